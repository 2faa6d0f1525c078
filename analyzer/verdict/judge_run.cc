// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/judge_run.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "analyzer/common/parallel.h"
#include "analyzer/verdict/host_code.h"
#include "analyzer/verdict/savings/between_steps.h"
#include "analyzer/verdict/skew_causes.h"
#include "analyzer/verdict/working_share.h"

namespace traceinject {
namespace {

// Share of the steps in which the device waits for others or moves their data.
double Exposed(const DeviceAnalysis& judged) {
  const StepSplit sum = judged.SumOf(IsJudged);
  return sum.partition.share(sum.partition.exposed_communication_ns +
                             sum.idle(IdleCause::kCommunication));
}

// Of a mean step, idle time before operations whose launch was not to be recorded.
double UnknownIdle(const DeviceAnalysis& judged) {
  if (!judged.rank->kept_from) return 0;
  const std::vector<bool> use = StepsOfCause(judged, "");
  TimeNs unknown = 0;
  for (std::size_t i = 0; i < use.size(); ++i)
    unknown += use[i] ? judged.causes.steps[i].idle(IdleCause::kUnknown) : 0;
  const auto steps = std::count(use.begin(), use.end(), true);
  return steps == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(steps);
}

const DeviceFigures& Critical(const std::deque<DeviceFigures>& judged,
                              const RankFindings& between) {
  const std::vector<const DeviceAnalysis*> late = LateDevices(judged, between);
  const auto rating = [&](const DeviceFigures& device) {
    return std::tuple(device.steps.few(),
                      std::find(late.begin(), late.end(), &device) == late.end(), Exposed(device));
  };
  return *std::min_element(
      judged.begin(), judged.end(),
      [&](const DeviceFigures& a, const DeviceFigures& b) { return rating(a) < rating(b); });
}

Grounds GroundsOf(const RunAnalysis& analysis, const DeviceAnalysis& judged,
                  const WorkingShares& working, const RankFindings& between) {
  Grounds grounds;
  grounds.source = judged.steps.source;
  grounds.step_confidence = judged.steps.confidence;
  if (judged.steps.source != StepSource::kWindow && judged.steps.few())
    grounds.marked = judged.steps.steps.size();
  grounds.working = working;
  grounds.named_wait = NameHostWait(judged);
  grounds.unknown_ns = UnknownIdle(judged);
  const auto operations = static_cast<double>(judged.causes.operations);
  const auto joined = static_cast<double>(judged.causes.joined);
  grounds.joined_share = operations > 0 ? joined / operations : 0;
  grounds.acausal_share = joined > 0 ? static_cast<double>(judged.causes.acausal) / joined : 0;
  const RecordingHealth& health = analysis.health;
  grounds.lost_share = health.lost_share;
  grounds.health_error =
      std::any_of(health.lines.begin(), health.lines.end(),
                  [](const HealthLine& line) { return line.severity == HealthSeverity::kError; });
  grounds.lossy = health.grade == HealthGrade::kLossy || health.grade == HealthGrade::kBad;
  const std::vector<CaptureGap>& gaps = judged.rank->gaps;
  grounds.in_windows =
      std::any_of(gaps.begin(), gaps.end(), [](const CaptureGap& gap) { return gap.planned(); });
  grounds.one_rank = analysis.run->ranks.size() == 1;
  grounds.rank_wait_ns = ExposedWaitOf(judged, between).value_or(0);
  grounds.job_replay_error = between.ranks.replay_error();
  grounds.clocks = between.ranks.ranks_size();
  grounds.unaligned_clocks = static_cast<int>(
      std::count_if(between.ranks.ranks().begin(), between.ranks.ranks().end(),
                    [](const proto::RankRow& row) { return !row.has_clock_offset_ns(); }));
  grounds.distrust = analysis.trust.Grounds();
  return grounds;
}

// Whether the verdict is about what lies between steps: then figures are those of all steps, and
// there is no order of fixes.
bool IsBetweenSteps(Judgement& found) {
  if (found.savings.between.empty() ||
      found.decision.cause != &found.savings.between.front().saving)
    return false;
  found.savings.step_ns = found.decision.cause->step_ns;
  const std::vector<bool> used = StepsOfCause(*found.device, found.decision.label);
  found.savings.steps = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
  return true;
}

}  // namespace

Judgement JudgeRun(const RunAnalysis& analysis, const RankFindings& between) {
  Judgement found;
  const StopFlag stop = analysis.options.stop;
  if (IsStopped(stop) || analysis.devices.empty()) return found;
  const DeviceFigures& device = Critical(analysis.devices, between);
  WorkingShares working;
  RunInParallel({[&] { found.savings = FindSavings(device, stop); },
                 [&] { working = WorkingSharesOf(device); }});
  if (IsStopped(stop)) return found;
  found.device = &device;
  NameHostCode(device, found.savings);
  AddSkewCauses(analysis.devices, device, between, found.savings);
  if (std::optional<BetweenSteps> steps = JudgeBetween(device))
    found.savings.between.push_back(*std::move(steps));
  found.decision = Decide(found.savings, GroundsOf(analysis, device, working, between));
  if (IsBetweenSteps(found)) return found;
  if (found.decision.cause != nullptr || found.decision.nothing_stands_out)
    found.fixes = FindFixOrder(device, found.savings, found.decision.cause, stop);
  return found;
}

}  // namespace traceinject
