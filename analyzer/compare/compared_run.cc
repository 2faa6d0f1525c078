// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/compared_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

// Irregular steps are no accident: so many at a steady distance, or of all steps this share by
// spells or by steps.
constexpr std::size_t kMinIrregular = 3;
constexpr double kMinDistance = 3;  // steps
constexpr double kSteady = 0.1;     // of the distance
constexpr double kOften = 0.1, kMuch = 0.25;
constexpr char kNoSteps[] = "whole window";

std::optional<int> IndexOf(const Report& report, const std::string& label) {
  for (int i = 0; i < std::min(report.devices_size(), report.steps_size()); ++i) {
    if (report.devices(i).label() == label) return i;
  }
  return std::nullopt;
}

// Whether rows of steps come at a steady distance; not those of one slow spell.
bool IsSteady(const std::vector<int>& rows) {
  const double distance = (rows.back() - rows.front()) / static_cast<double>(rows.size() - 1);
  if (distance < kMinDistance) return false;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double off = std::abs(rows[i] - rows[i - 1] - distance);
    if (off > std::max(1.0, kSteady * distance)) return false;
  }
  return true;
}

// Neighboring rows are one spell.
std::size_t Spells(const std::vector<int>& rows) {
  std::size_t spells = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i] != rows[i - 1] + 1) ++spells;
  }
  return spells;
}

// Whether irregular steps are the program's own.
bool HasRecurring(const ComparedRun& side) {
  const auto& steps = side.device_steps().steps();
  std::vector<int> rows;
  for (int row = 0; row < steps.size(); ++row) {
    if (steps[row].kind() == "irregular") rows.push_back(row);
  }
  if (rows.size() < kMinIrregular) return false;
  const double count = steps.size();
  return static_cast<double>(rows.size()) >= kMuch * count ||
         static_cast<double>(Spells(rows)) >= kOften * count || IsSteady(rows);
}

void ChooseSteps(ComparedRun& side, bool irregular_too) {
  side.steps.clear();
  side.steps_during = 0;
  const proto::DeviceSteps& steps = side.device_steps();
  if (steps.source() == kNoSteps) return;
  for (int row = 0; row < steps.steps_size(); ++row) {
    const std::string& kind = steps.steps(row).kind();
    if (kind == "regular" || (irregular_too && kind == "irregular")) side.steps.push_back(row);
  }
  if (!side.steps.empty()) side.steps_during = side.steps.back() - side.steps.front() + 1;
}

// The report of the compared steps' time: what lies before (imports, warm-up) and after is no part
// of a step.
void LookDuring(ComparedRun& side) {
  if (side.steps.empty()) {
    side.during = side.report;
    return;
  }
  ReportOptions options = side.options;
  options.steps = std::nullopt;
  options.top_kernels = options.longest_gaps = 0;
  const proto::StepSplit& last = side.step(side.steps.back());
  options.limits.from_ns = side.step(side.steps.front()).start_ns();
  options.limits.to_ns = last.start_ns() + last.length_ns();
  side.during = BuildReport(*side.run, options);
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

const proto::DeviceReport& ComparedRun::device_during() const {
  for (const proto::DeviceReport& one : during.devices()) {
    if (index && one.label() == device().label()) return one;
  }
  return Nothing<proto::DeviceReport>();
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
  ChooseSteps(side, HasRecurring(side));
  LookDuring(side);
  return side;
}

void ChooseAlike(ComparedRun& before, ComparedRun& after) {
  const bool slower = after.report.verdict().step_ns() > before.report.verdict().step_ns();
  const ComparedRun& leads = slower ? after : before;
  const std::string label = leads.device().label();
  const std::optional<int> one = IndexOf(before.report, label), two = IndexOf(after.report, label);
  const bool moved = one && two && (one != before.index || two != after.index);
  if (moved) {
    before.index = one;
    after.index = two;
  }
  const bool irregular_too = HasRecurring(before) || HasRecurring(after);
  for (ComparedRun* side : {&before, &after}) {
    const std::vector<int> last = side->steps;
    ChooseSteps(*side, irregular_too);
    if (moved || side->steps != last) LookDuring(*side);
  }
}

std::int64_t IdleOf(const proto::StepSplit& step, std::string_view cause) {
  for (const proto::IdlePart& part : step.idle()) {
    if (part.cause() == cause) return part.ns();
  }
  return 0;
}

}  // namespace traceinject
