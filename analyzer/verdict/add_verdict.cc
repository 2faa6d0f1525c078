// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/common/whole.h"
#include "analyzer/metrics/idle/data_loading.h"
#include "analyzer/metrics/idle/queue_depth.h"
#include "analyzer/metrics/report/printable.h"
#include "analyzer/metrics/report/withhold.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/verdict/add_link_findings.h"
#include "analyzer/verdict/add_small_kernels.h"
#include "analyzer/verdict/decide.h"
#include "analyzer/verdict/evidence.h"
#include "analyzer/verdict/fix_order.h"
#include "analyzer/verdict/judge_recording.h"
#include "analyzer/verdict/labels.h"
#include "analyzer/verdict/lever_values.h"
#include "analyzer/verdict/levers.h"
#include "analyzer/verdict/new_utilisation.h"
#include "analyzer/verdict/savings.h"
#include "analyzer/verdict/skew_causes.h"

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

bool IsAfterWarmUp(const Step& step) { return !step.warm_up; }
bool IsRegular(const Step& step) { return step.regular(); }

using Chosen = bool (*)(const Step&);

StepSplit SumOf(const JudgedDevice& judged, Chosen chosen) {
  StepSplit sum;
  for (std::size_t i = 0; i < judged.steps.steps.size(); ++i) {
    if (chosen(judged.steps.steps[i])) sum += judged.causes.steps[i];
  }
  return sum;
}

void SetSum(const JudgedDevice& judged, const std::vector<StepWaits>& waits, Chosen chosen,
            proto::StepSplit& to) {
  SplitOf(SumOf(judged, chosen), to);
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
    case StepKind::kIrregular:
      break;
  }
  return "far from the median";
}

void LeftOutOf(const JudgedDevice& judged, proto::DeviceSteps& to) {
  for (const StepKind kind : kStepKinds) {
    proto::LeftOutSteps left;
    for (std::size_t i = 0; i < judged.kinds.size(); ++i) {
      if (judged.kinds[i] != kind) continue;
      left.set_count(left.count() + 1);
      left.set_total_ns(left.total_ns() + judged.steps.steps[i].length_ns());
    }
    if (kind == StepKind::kRegular || left.count() == 0) continue;
    left.set_kind(std::string(StepKindName(kind)));
    left.set_reason(std::string(WhyLeftOut(kind)));
    *to.add_left_out() = std::move(left);
  }
}

void QueueOf(const JudgedDevice& judged, proto::DeviceSteps& to) {
  const auto found = SummarizeQueue(*judged.rank, *judged.device, judged.steps.regular_times());
  if (!found || found->time_ns <= 0) return;
  proto::LaunchQueue& queue = *to.mutable_queue();
  queue.set_operations(found->operations);
  queue.set_slack_median_ns(found->slack_median_ns);
  queue.set_slack_low_ns(found->slack_low_ns);
  queue.set_depth_median(found->depth_median);
  queue.set_depth_low(found->depth_low);
  queue.set_empty_share(static_cast<double>(found->empty_ns) / static_cast<double>(found->time_ns));
}

void StepsOf(const JudgedDevice& judged, TimeNs origin, std::size_t rows, proto::DeviceSteps& to) {
  const Steps& steps = judged.steps;
  to.set_label(std::string(judged.label));
  to.set_source(std::string(StepSourceName(steps.source)));
  to.set_pattern(steps.pattern);
  to.set_count(static_cast<std::int64_t>(steps.steps.size()));
  to.set_first(static_cast<std::int64_t>(steps.first));
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
  LeftOutOf(judged, to);
  QueueOf(judged, to);
  for (std::size_t i = 0; i < std::min(steps.steps.size(), rows); ++i) {
    proto::StepSplit& row = *to.add_steps();
    SplitOf(judged.causes.steps[i], row);
    row.set_start_ns(steps.steps[i].time.start - origin);
    row.set_warm_up(steps.steps[i].warm_up);
    row.set_irregular(steps.steps[i].irregular);
    row.set_kind(std::string(StepKindName(judged.kinds[i])));
    row.set_data_waits(waits[i].waits);
    row.set_data_wait_ns(waits[i].wait_ns);
    if (waits[i].samples) row.set_samples(*waits[i].samples);
  }
}

// Share of the steps in which the device waits for others or moves their data.
double Exposed(const JudgedDevice& judged) {
  const StepSplit sum = SumOf(judged, IsAfterWarmUp);
  return sum.partition.share(sum.partition.exposed_communication_ns +
                             sum.idle(IdleCause::kCommunication));
}

std::vector<JudgedDevice> JudgeDevices(const Run& run, TimeNs origin, const ReportOptions& options,
                                       Report& report) {
  std::vector<JudgedDevice> judged;
  for (const proto::DeviceReport& reported : report.devices()) {
    auto device = JudgeReported(run, origin, reported, options.stop, options.pattern());
    if (IsStopped(options.stop)) return {};
    if (!device) continue;
    judged.push_back(std::move(*device));
    StepsOf(judged.back(), origin, options.step_rows, *report.add_steps());
  }
  return judged;
}

const JudgedDevice& Critical(const std::vector<JudgedDevice>& judged, const RankFindings& between) {
  const std::vector<std::size_t> late = LateDevices(judged, between);
  const auto rating = [&](const JudgedDevice& device) {
    const auto index = static_cast<std::size_t>(&device - judged.data());
    return std::tuple(device.steps.source == StepSource::kWindow,
                      std::find(late.begin(), late.end(), index) == late.end(), Exposed(device));
  };
  return *std::min_element(
      judged.begin(), judged.end(),
      [&](const JudgedDevice& a, const JudgedDevice& b) { return rating(a) < rating(b); });
}

Grounds GroundsOf(const Run& run, const JudgedDevice& judged, const RankFindings& between,
                  const Report& report) {
  Grounds grounds;
  grounds.source = judged.steps.source;
  grounds.step_confidence = judged.steps.confidence;
  grounds.working = WorkingSharesOf(judged);
  const auto operations = static_cast<double>(judged.causes.operations);
  const auto joined = static_cast<double>(judged.causes.joined);
  grounds.joined_share = operations > 0 ? joined / operations : 0;
  grounds.acausal_share = joined > 0 ? static_cast<double>(judged.causes.acausal) / joined : 0;
  const proto::Health& health = report.health();
  if (health.has_lost_share()) grounds.lost_share = health.lost_share();
  grounds.health_error =
      std::any_of(health.lines().begin(), health.lines().end(), [](const proto::HealthLine& line) {
        return line.severity() == proto::HealthLine::SEVERITY_ERROR;
      });
  grounds.lossy =
      health.grade() == proto::Health::GRADE_LOSSY || health.grade() == proto::Health::GRADE_BAD;
  const std::vector<CaptureGap>& gaps = judged.rank->gaps;
  grounds.in_windows =
      std::any_of(gaps.begin(), gaps.end(), [](const CaptureGap& gap) { return gap.planned(); });
  grounds.one_rank = run.ranks.size() == 1;
  grounds.rank_wait_ns = ExposedWaitOf(judged, between).value_or(0);
  grounds.job_replay_error = between.ranks.replay_error();
  grounds.clocks = between.ranks.ranks_size();
  grounds.unaligned_clocks = static_cast<int>(
      std::count_if(between.ranks.ranks().begin(), between.ranks.ranks().end(),
                    [](const proto::RankRow& row) { return !row.has_clock_offset_ns(); }));
  grounds.distrust = WithheldGrounds(report);
  return grounds;
}

void SavingOf(const CauseSaving& from, proto::Saving& to) {
  to.set_label(std::string(from.label));
  to.set_title(std::string(TitleOf(from.label)));
  to.set_place(from.place);
  to.set_saved_ns(Whole(from.saved_ns));
  to.set_saved_low_ns(Whole(from.low_ns));
  to.set_saved_high_ns(Whole(from.high_ns));
}

void EvidenceOf(const EvidenceLine& line, const JudgedDevice& judged, TimeNs origin,
                proto::Evidence& to) {
  to.set_text(line.text);
  if (!line.place) return;
  to.set_start_ns(line.place->time.start - origin);
  to.set_end_ns(line.place->time.end - origin);
  to.set_source(static_cast<int>(judged.rank_index));
  if (line.place->thread == kNone) {
    to.set_device(judged.device->ordinal);
  } else {
    to.set_thread(judged.rank->threads[line.place->thread].tid);
  }
}

// What the names of its kernels show: only faster kernels help where nothing is waited for.
void KernelLevers(const proto::DeviceReport& device, proto::Verdict& to) {
  for (const proto::KernelFinding& finding : device.kernel_findings()) {
    proto::Lever& lever = *to.add_levers();
    lever.set_setting(finding.setting());
    lever.set_change(fmt::format("{} ({})", finding.change(), finding.text()));
    lever.set_source(finding.source());
  }
}

void AdviceOf(const KernelSaving& saving, proto::Verdict& to) {
  for (const KernelAdvice& advice : saving.advice) {
    proto::Lever& lever = *to.add_levers();
    lever.set_setting(advice.setting);
    lever.set_change(advice.change);
    lever.set_source(std::string(advice.source));
  }
}

void ValueOf(const LeverValue& from, proto::Lever& lever) {
  proto::LeverValue& to = *lever.add_values();
  to.set_name(from.name);
  to.set_current(from.current);
  to.set_suggested(from.suggested);
}

// Levers that the environment says are as they should be are none.
void EnvironmentOf(const Rank& rank, proto::Verdict& to) {
  auto& levers = *to.mutable_levers();
  for (auto lever = levers.begin(); lever != levers.end();) {
    const std::vector<LeverValue> values =
        EnvironmentValues(lever->setting() + " " + lever->change(), rank);
    const bool is_set = std::any_of(values.begin(), values.end(), [](const LeverValue& value) {
      return !value.suggested.empty() && value.current.find(value.suggested) != std::string::npos;
    });
    for (const LeverValue& value : values) ValueOf(value, *lever);
    lever = is_set ? levers.erase(lever) : lever + 1;
  }
}

// "its GPU: power and thermal limits": what to look at, and how.
void FindingLevers(const proto::RankFinding& finding, proto::Verdict& to) {
  for (const std::string& sentence : finding.levers()) {
    proto::Lever& lever = *to.add_levers();
    const std::size_t colon = sentence.find(": ");
    lever.set_setting(sentence.substr(0, colon));
    if (colon != std::string::npos) lever.set_change(sentence.substr(colon + 2));
  }
}

// Where the verdict cannot take them in: it is about one GPU.
void SayBetweenRanks(const proto::Ranks& ranks, proto::Verdict& to) {
  for (const proto::RankFinding& finding : ranks.findings()) {
    if (finding.saved_ns() <= to.saved_ns()) continue;
    to.add_caveats(
        fmt::format("this covers one GPU alone; interaction between ranks ({}) costs more per step",
                    finding.name()));
    return;
  }
}

void CheckOf(const ReplayCheck& check, proto::ReplayCheck& to) {
  to.set_steps(static_cast<std::int64_t>(check.steps));
  to.set_error(check.error);
  to.set_median_step_error(check.median_step_error);
  to.set_worst_step_error(check.worst_step_error);
  to.set_residual_share(check.residual_share);
}

void VerdictOf(const JudgedDevice& judged, const Savings& savings, const Decision& decision,
               const proto::Ranks& between, TimeNs origin, proto::Verdict& to) {
  to.set_label(decision.label);
  to.set_title(std::string(TitleOf(decision.label)));
  to.set_device(std::string(judged.label));
  to.set_steps_source(std::string(StepSourceName(judged.steps.source)));
  to.set_steps(
      judged.steps.source == StepSource::kWindow ? 0 : static_cast<std::int64_t>(savings.steps));
  to.set_step_ns(Whole(savings.step_ns));
  if (savings.recording_known) {
    to.set_recording_ns(Whole(savings.recording_ns));
    to.set_recording_low_ns(Whole(savings.recording_low_ns));
    to.set_recording_high_ns(Whole(savings.recording_high_ns));
    to.set_resident_ns(Whole(savings.resident_ns));
  }
  to.set_recording_measured(savings.recording_measured);
  to.set_replay_error(savings.replay_error);
  if (savings.check) CheckOf(*savings.check, *to.mutable_replay_check());
  to.set_confidence(decision.confidence);
  to.set_abstained(decision.abstained);
  if (decision.cause != nullptr) {
    to.set_saved_ns(Whole(decision.cause->saved_ns));
    to.set_saved_low_ns(Whole(decision.cause->low_ns));
    to.set_saved_high_ns(Whole(decision.cause->high_ns));
    to.set_new_step_ns(to.step_ns() - to.recording_ns() - to.saved_ns());
    to.set_margin(decision.margin);
    if (decision.cause->finding != nullptr) to.set_replay_error(between.replay_error());
    to.set_place(decision.cause->place);
  }
  if (decision.runner_up != nullptr) SavingOf(*decision.runner_up, *to.mutable_runner_up());
  for (const CauseSaving& saving : savings.causes) {
    if (Whole(saving.saved_ns) != 0) SavingOf(saving, *to.add_savings());
  }
  for (const std::string& caveat : decision.caveats) to.add_caveats(caveat);
  for (const EvidenceLine& line : EvidenceFor(judged, savings, decision))
    EvidenceOf(line, judged, origin, *to.add_evidence());
  if (decision.cause != nullptr && decision.cause->finding != nullptr)
    FindingLevers(*decision.cause->finding, to);
  for (const KernelSaving& saving : savings.kernels) {
    if (saving.label == decision.label) AdviceOf(saving, to);
  }
  const LeverContext context{judged, static_cast<double>(to.new_step_ns())};
  for (const LeverRow& row : LeversOf(decision.label, *judged.rank)) {
    const LeverFacts facts = row.facts == nullptr ? LeverFacts() : row.facts(context);
    if (facts.is_set) continue;
    proto::Lever& lever = *to.add_levers();
    for (const LeverValue& value : facts.values) ValueOf(value, lever);
    lever.set_setting(std::string(row.setting));
    lever.set_change(std::string(row.change));
    lever.set_source(std::string(row.source));
  }
}

void FixesOf(const FixOrder& order, proto::Verdict& to) {
  std::int64_t step_ns = to.step_ns() - to.recording_ns();
  for (const Fix& fix : order.fixes) {
    proto::FixStep& step = *to.add_fix_order();
    step.set_label(std::string(fix.cause->label));
    step.set_title(std::string(TitleOf(fix.cause->label)));
    step.set_place(fix.cause->place);
    step.set_saved_ns(Whole(fix.saved_ns));
    step_ns -= step.saved_ns();
    step.set_step_ns(step_ns);
  }
  for (const std::string& sentence : order.interactions) to.add_interactions(sentence);
}

// Before the levers of the label: they are about this run.
void LinkLevers(const proto::DeviceReport& device, proto::Verdict& to) {
  const int general = to.levers_size();
  for (const proto::LinkFinding& finding : device.link_findings()) {
    if (finding.name() != "slow_communication" && !finding.name().ends_with("_buckets")) continue;
    proto::Lever& lever = *to.add_levers();
    lever.set_setting(finding.setting());
    lever.set_change(fmt::format("{} ({})", finding.change(), finding.text()));
    lever.set_source(finding.source());
  }
  std::rotate(to.mutable_levers()->pointer_begin(), to.mutable_levers()->pointer_begin() + general,
              to.mutable_levers()->pointer_end());
}

NcclTransport WayOf(const Rank& rank) {
  std::set<std::uint32_t> all;
  for (std::uint32_t row = 0; row < rank.communicators.size(); ++row) all.insert(row);
  return SlowestWay(rank, all);
}

// Devices are judged in the order of the report, and those alone.
proto::DeviceReport* ReportOf(const JudgedDevice& judged, Report& report) {
  return &*std::find_if(
      report.mutable_devices()->begin(), report.mutable_devices()->end(),
      [&](const proto::DeviceReport& device) { return device.label() == judged.label; });
}

// What rests on withheld figures.
void ClearVerdictFigures(proto::Verdict& verdict) {
  verdict.clear_savings();
  verdict.clear_evidence();
  verdict.clear_runner_up();
  verdict.clear_fix_order();
  verdict.clear_interactions();
  verdict.clear_step_ns();
  verdict.clear_steps();
  verdict.clear_recording_ns();
  verdict.clear_recording_low_ns();
  verdict.clear_recording_high_ns();
  verdict.clear_resident_ns();
  verdict.clear_recording_measured();
  verdict.clear_replay_error();
  verdict.clear_replay_check();
}

}  // namespace

void AddVerdict(const Run& run, const ReportOptions& options, const RankFindings& between,
                Report& report) {
  proto::Verdict& verdict = *report.mutable_verdict();
  const std::optional<TimeNs> origin = RunOrigin(run);
  std::vector<JudgedDevice> judged;
  if (origin) judged = JudgeDevices(run, *origin, options, report);
  if (IsStopped(options.stop)) return;
  if (judged.empty()) {
    verdict.set_label("inconclusive");
    verdict.set_title(std::string(TitleOf(verdict.label())));
    verdict.set_abstained("The run contains no GPU work in this window.");
    verdict.set_confidence(0);
    return;
  }
  const JudgedDevice& critical = Critical(judged, between);
  Savings savings = FindSavings(critical, options.stop);
  if (IsStopped(options.stop)) return;
  AddSkewCauses(judged, critical, between, savings);
  const Decision decision = Decide(savings, GroundsOf(run, critical, between, report));
  VerdictOf(critical, savings, decision, between.ranks, *origin, verdict);
  if (decision.cause != nullptr || decision.nothing_stands_out)
    FixesOf(FindFixOrder(critical, savings, decision.cause, options.stop), verdict);
  if (!decision.abstained.empty() || !IsPlayed(between.ranks))
    SayBetweenRanks(between.ranks, verdict);
  AddSmallKernels(judged, report);
  for (const JudgedDevice& device : judged) {
    if (WithheldGrounds(report).empty()) AddBucketFindings(device, *ReportOf(device, report));
  }
  AddSlowCommunication(decision.label, WayOf(*critical.rank), *ReportOf(critical, report));
  if (decision.label == "comm_exposed") LinkLevers(*ReportOf(critical, report), verdict);
  if (decision.label == "compute_bound") {
    for (const proto::DeviceReport& device : report.devices()) {
      if (device.label() == critical.label) KernelLevers(device, verdict);
    }
  }
  EnvironmentOf(*critical.rank, verdict);
  if (!decision.abstained.empty() && !report.trust().withheld().empty())
    ClearVerdictFigures(verdict);
  AddNewUtilization(report);
  JudgeRecording(report);
  WithholdSteps(report);
  MakePrintable(report);
}

void AddSteps(const Run& run, const ReportOptions& options, Report& report) {
  const std::optional<TimeNs> origin = RunOrigin(run);
  if (origin) JudgeDevices(run, *origin, options, report);
  WithholdSteps(report);
  MakePrintable(report);
}

RankedReport BuildRankedReport(const Run& run, const ReportOptions& options) {
  Report report = BuildReport(run, options);
  RankFindings between = FindBetweenRanks(run, options);
  if (!IsStopped(options.stop)) AddVerdict(run, options, between, report);
  AddRankFindings(between, report);
  return {std::move(report), std::move(between.ranks)};
}

Report BuildReportWithVerdict(const Run& run, const ReportOptions& options) {
  return BuildRankedReport(run, options).report;
}

}  // namespace traceinject
