// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/write_steps.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/idle/data_loading.h"
#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/report/withhold.h"
#include "analyzer/metrics/report/write_scope.h"

namespace traceinject {
namespace {

void SplitOf(const StepSplit& split, proto::StepSplit& to) {
  to.set_length_ns(split.partition.wall_ns);
  to.set_compute_ns(split.partition.compute_ns);
  to.set_exposed_communication_ns(split.partition.exposed_communication_ns);
  to.set_exposed_copy_ns(split.partition.exposed_copy_ns);
  to.set_idle_ns(split.partition.idle_ns);
  if (split.partition.unrecorded_ns > 0) to.set_unrecorded_ns(split.partition.unrecorded_ns);
  for (std::size_t i = 0; i < kIdleCauses; ++i) {
    if (split.idle_ns[i] == 0) continue;
    proto::IdlePart& part = *to.add_idle();
    part.set_cause(std::string(IdleCauseName(static_cast<IdleCause>(i))));
    part.set_ns(split.idle_ns[i]);
  }
}

void SetSum(const DeviceAnalysis& judged, const std::vector<StepWaits>& waits, StepChooser chosen,
            proto::StepSplit& to) {
  SplitOf(judged.SumOf(chosen), to);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (!chosen(judged.steps.steps[i])) continue;
    to.set_data_waits(to.data_waits() + waits[i].waits);
    to.set_data_wait_ns(to.data_wait_ns() + waits[i].wait_ns);
  }
}

std::string_view WhyLeftOut(StepKind kind) {
  switch (kind) {
    case StepKind::kWarmUp:
      return "at the start, far from the median";
    case StepKind::kEvaluation:
      return "forward passes without training";
    case StepKind::kCheckpoint:
      return "a checkpoint was being written";
    case StepKind::kRegular:
      return "before the first or after the last whole period of what recurs";
    case StepKind::kIrregular:
      break;
  }
  return "far from the median";
}

void LeftOutOf(const DeviceAnalysis& judged, proto::DeviceSteps& to) {
  for (const StepKind kind : kStepKinds) {
    proto::LeftOutSteps left;
    for (std::size_t i = 0; i < judged.kinds.size(); ++i) {
      if (judged.kinds[i] != kind || judged.steps.steps[i].judged) continue;
      left.set_count(left.count() + 1);
      left.set_total_ns(left.total_ns() + judged.steps.steps[i].length_ns());
    }
    if (left.count() == 0) continue;
    left.set_kind(std::string(StepKindName(kind)));
    left.set_reason(std::string(WhyLeftOut(kind)));
    *to.add_left_out() = std::move(left);
  }
}

void QueueOf(const QueueSummary& found, proto::DeviceSteps& to) {
  if (found.time_ns <= 0) return;
  proto::LaunchQueue& queue = *to.mutable_queue();
  queue.set_operations(found.operations);
  queue.set_slack_median_ns(found.slack_median_ns);
  queue.set_slack_low_ns(found.slack_low_ns);
  queue.set_depth_median(found.depth_median);
  queue.set_depth_low(found.depth_low);
  queue.set_empty_share(static_cast<double>(found.empty_ns) / static_cast<double>(found.time_ns));
}

void RunTimeOf(const DeviceFigures& device, proto::RunTime& to) {
  const RunTime& time = *device.run_time;
  to.set_recorded_ns(time.recorded_ns);
  to.set_goodput(time.goodput());
  to.set_between_share(time.between_share());
  for (std::size_t i = 0; i < kTimeUses; ++i) {
    const UsedTime& used = time.uses[i];
    if (used.ns == 0) continue;
    proto::TimeUse& use = *to.add_uses();
    use.set_name(std::string(TimeUseName(static_cast<TimeUse>(i))));
    use.set_ns(used.ns);
    use.set_steps(used.steps);
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      if (used.idle_ns[cause] == 0) continue;
      proto::IdlePart& part = *use.add_idle();
      part.set_cause(std::string(IdleCauseName(static_cast<IdleCause>(cause))));
      part.set_ns(used.idle_ns[cause]);
    }
  }
  for (const HostWait& wait : device.host_waits) {
    proto::HostWaitReason& reason = *to.add_host_waits();
    reason.set_reason(std::string(HostWaitReasonName(wait.reason)));
    reason.set_ns(wait.ns);
    reason.set_place(PlaceText(*device.rank, wait.place));
  }
}

void StepsOf(const DeviceFigures& judged, TimeNs origin, std::size_t rows, proto::DeviceSteps& to) {
  const Steps& steps = judged.steps;
  to.set_label(judged.label);
  to.set_source(std::string(StepSourceName(steps.source)));
  to.set_pattern(steps.pattern);
  to.set_count(static_cast<std::int64_t>(steps.steps.size()));
  to.set_first(steps.number(0));
  to.set_warm_up(static_cast<std::int64_t>(steps.count(&Step::warm_up)));
  to.set_irregular(static_cast<std::int64_t>(steps.count(&Step::irregular)));
  to.set_median_ns(steps.median_ns);
  to.set_mad_ns(steps.mad_ns);
  to.set_confidence(steps.confidence);
  if (const std::optional<TimeNs> mean = steps.regular_mean_ns()) to.set_regular_mean_ns(*mean);
  if (const auto median = steps.regular_median_ns()) to.set_regular_median_ns(*median);
  const std::vector<StepWaits> waits = WaitsInSteps(*judged.rank, steps);
  SetSum(judged, waits, IsAfterWarmUp, *to.mutable_sum());
  to.mutable_sum()->set_start_ns(steps.start_ns - origin);
  to.set_regular(static_cast<std::int64_t>(steps.count_regular()));
  SetSum(judged, waits, IsRegular, *to.mutable_regular_sum());
  to.set_judged(static_cast<std::int64_t>(steps.count_judged()));
  SetSum(judged, waits, IsJudged, *to.mutable_judged_sum());
  if (const auto mean = steps.judged_mean_ns()) to.set_judged_mean_ns(*mean);
  if (const auto median = steps.judged_median_ns()) to.set_judged_median_ns(*median);
  to.set_judged_text(JudgedText(steps));
  if (steps.numbers) to.set_numbered(steps.numbers->name);
  LeftOutOf(judged, to);
  if (judged.queue) QueueOf(*judged.queue, to);
  if (judged.run_time) RunTimeOf(judged, *to.mutable_run_time());
  for (std::size_t i = 0; i < std::min(steps.steps.size(), rows); ++i) {
    proto::StepSplit& row = *to.add_steps();
    SplitOf(judged.causes.steps[i], row);
    row.set_start_ns(steps.steps[i].time.start - origin);
    row.set_warm_up(steps.steps[i].warm_up);
    row.set_irregular(steps.steps[i].irregular);
    row.set_judged(steps.steps[i].judged);
    row.set_kind(std::string(StepKindName(judged.kinds[i])));
    row.set_data_waits(waits[i].waits);
    row.set_data_wait_ns(waits[i].wait_ns);
    if (waits[i].samples) row.set_samples(*waits[i].samples);
  }
}

}  // namespace

void WriteSteps(const RunAnalysis& analysis, Report& report) {
  for (const DeviceFigures& device : analysis.devices)
    StepsOf(device, analysis.origin_ns(), analysis.options.step_rows, *report.add_steps());
  WithholdSteps(report);
}

}  // namespace traceinject
