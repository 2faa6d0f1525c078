// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/step_parts.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/common/mean.h"
#include "analyzer/compare/change.h"
#include "analyzer/metrics/idle/gap_causes.h"

namespace traceinject {
namespace {

using StepTime = std::function<std::int64_t(const proto::StepSplit&)>;

std::vector<std::pair<std::string, StepTime>> Parts() {
  using OneStep = proto::StepSplit;
  std::vector<std::pair<std::string, StepTime>> parts = {
      {"compute", [](const OneStep& step) { return step.compute_ns(); }},
      {"exposed communication",
       [](const OneStep& step) { return step.exposed_communication_ns(); }},
      {"exposed copies", [](const OneStep& step) { return step.exposed_copy_ns(); }},
  };
  for (std::size_t i = 0; i < kIdleCauses; ++i) {
    const std::string name(IdleCauseName(static_cast<IdleCause>(i)));
    parts.emplace_back("idle: " + name, [name](const OneStep& step) { return IdleOf(step, name); });
  }
  // Idle time whose causes are withheld.
  parts.emplace_back("idle", [](const OneStep& step) {
    std::int64_t rest = step.idle_ns();
    for (const proto::IdlePart& part : step.idle()) rest -= part.ns();
    return rest;
  });
  parts.emplace_back("unrecorded", [](const OneStep& step) { return step.unrecorded_ns(); });
  return parts;
}

// Rounds terms of a sum so that they add up to the rounded sum.
class RoundedSum {
 public:
  std::int64_t Add(double term) {
    exact_ += term;
    const std::int64_t last = rounded_;
    rounded_ = std::llround(exact_);
    return rounded_ - last;
  }
  std::int64_t sum() const { return rounded_; }

 private:
  double exact_ = 0;
  std::int64_t rounded_ = 0;
};

}  // namespace

std::vector<std::pair<std::string, double>> MeanParts(const ComparedRun& side) {
  std::vector<std::pair<std::string, double>> parts;
  for (const auto& [name, time] : Parts()) {
    const double mean = Mean(side.Series(time));
    if (mean != 0) parts.emplace_back(name, mean);
  }
  return parts;
}

void CompareSteps(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to) {
  if (before.steps.empty() || after.steps.empty()) return;
  RoundedSum sum_before, sum_after;
  for (const auto& [name, time] : Parts()) {
    const MeanDifference difference = DifferenceOfMeans(before.Series(time), after.Series(time));
    const std::int64_t was = sum_before.Add(difference.before),
                       is = sum_after.Add(difference.after);
    if (difference.before == 0 && difference.after == 0) continue;
    proto::StepPart& part = *to.add_parts();
    part.set_name(name);
    *part.mutable_change() = ChangeOf(difference);
    SetTimes(was, is, *part.mutable_change());
  }
  const auto length = [](const proto::StepSplit& step) { return step.length_ns(); };
  *to.mutable_step_ns() = ChangeOf(DifferenceOfMeans(before.Series(length), after.Series(length)));
  SetTimes(sum_before.sum(), sum_after.sum(), *to.mutable_step_ns());
}

}  // namespace traceinject
