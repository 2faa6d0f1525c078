// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/compared_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kNoSteps[] = "whole window";

std::optional<int> IndexOf(const Report& report, const std::string& label) {
  for (int i = 0; i < std::min(report.devices_size(), report.steps_size()); ++i) {
    if (report.devices(i).label() == label) return i;
  }
  return std::nullopt;
}

void ChooseSteps(ComparedRun& side) {
  side.steps.clear();
  const proto::DeviceSteps& steps = side.device_steps();
  if (steps.source() == kNoSteps) return;
  for (int row = 0; row < steps.steps_size(); ++row) {
    if (steps.steps(row).judged()) side.steps.push_back(row);
  }
}

template <typename Message>
const Message& Nothing() {
  static const Message kNothing;
  return kNothing;
}

}  // namespace

const proto::DeviceReport& ComparedRun::device() const {
  return index ? report.devices(*index) : Nothing<proto::DeviceReport>();
}

const proto::DeviceSteps& ComparedRun::device_steps() const {
  return index ? report.steps(*index) : Nothing<proto::DeviceSteps>();
}

const Rank* ComparedRun::rank() const {
  return index ? &run->ranks[static_cast<std::size_t>(device().source())] : nullptr;
}

const Device* ComparedRun::model() const {
  return index ? devices[static_cast<std::size_t>(*index)] : nullptr;
}

ComparedRun PrepareRun(const Run& run, const ReportOptions& options) {
  ComparedRun side;
  side.run = &run;
  side.options = options;
  side.options.step_rows = std::numeric_limits<std::size_t>::max();
  JudgedReport found = BuildJudgedReport(run, side.options);
  side.report = std::move(found.report);
  side.devices = std::move(found.devices);
  side.index = IndexOf(side.report, side.report.verdict().device());
  if (!side.index && side.report.devices_size() > 0 && side.report.steps_size() > 0) side.index = 0;
  ChooseSteps(side);
  return side;
}

void ChooseSameGpu(ComparedRun& before, ComparedRun& after) {
  const bool slower = after.report.verdict().step_ns() > before.report.verdict().step_ns();
  const ComparedRun& leads = slower ? after : before;
  const std::string label = leads.device().label();
  const std::optional<int> one = IndexOf(before.report, label), two = IndexOf(after.report, label);
  if (!one || !two) return;
  before.index = one;
  after.index = two;
  for (ComparedRun* side : {&before, &after}) ChooseSteps(*side);
}

std::int64_t IdleOf(const proto::StepSplit& step, std::string_view cause) {
  for (const proto::IdlePart& part : step.idle()) {
    if (part.cause() == cause) return part.ns();
  }
  return 0;
}

}  // namespace traceinject
