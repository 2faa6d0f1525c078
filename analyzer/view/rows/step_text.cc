// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/step_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

// Index into Report.devices, which Report.steps follow; of a host row the process's first GPU.
int DeviceIndex(const proto::Report& report, const Run& run, const Row& row) {
  for (int index = 0; index < report.devices_size(); ++index) {
    const proto::DeviceReport& device = report.devices(index);
    if (device.source() != static_cast<int>(row.rank)) continue;
    const bool host = row.device == kNone;
    if (host || run.ranks[row.rank].devices[row.device].ordinal == device.ordinal()) return index;
  }
  return -1;
}

}  // namespace

std::vector<Detail> StepDetails(const proto::Report& report, const Run& run, const RowModel& model,
                                const Row& row, TimeNs time_ns) {
  const int device = DeviceIndex(report, run, row);
  if (device < 0 || device >= report.steps_size()) return {};
  const proto::DeviceSteps& steps = report.steps(device);
  if (steps.source() == "whole window") return {};
  const TimeNs time = time_ns - model.origin;
  const auto found = std::find_if(
      steps.steps().begin(), steps.steps().end(), [time](const proto::StepSplit& step) {
        return time >= step.start_ns() && time < step.start_ns() + step.length_ns();
      });
  if (found == steps.steps().end()) return {};
  const proto::StepSplit& step = *found;
  std::string number = fmt::format("{} of {}", found - steps.steps().begin() + 1, steps.count());
  if (step.kind() != "regular") number += ", " + step.kind();
  std::string split = fmt::format("compute {}", FormatTime(step.compute_ns()));
  const auto add = [&split](const std::string& what, std::int64_t ns) {
    if (ns > 0) split += fmt::format(", {} {}", what, FormatTime(ns));
  };
  add("exposed communication", step.exposed_communication_ns());
  add("exposed copies", step.exposed_copy_ns());
  add("idle", step.idle_ns());
  std::vector<Detail> lines = {
      {"step", number},
      {"step took",
       fmt::format("{}, median {}", FormatTime(step.length_ns()), FormatTime(steps.median_ns()))},
      {"into the step", FormatTime(time - step.start_ns())},
      {"GPU in the step", split},
  };
  std::string idle;
  for (const proto::IdlePart& part : step.idle()) {
    idle += fmt::format("{}{} {}", idle.empty() ? "" : ", ", part.cause(), FormatTime(part.ns()));
  }
  if (!idle.empty()) lines.emplace_back("idle for", idle);
  return lines;
}

}  // namespace traceinject
