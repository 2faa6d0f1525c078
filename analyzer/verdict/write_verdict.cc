// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/write_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/common/whole.h"
#include "analyzer/metrics/kernels/device_waterfall.h"
#include "analyzer/verdict/add_link_findings.h"
#include "analyzer/verdict/add_small_kernels.h"
#include "analyzer/verdict/code/code_evidence.h"
#include "analyzer/verdict/code/code_levers.h"
#include "analyzer/verdict/compute_loss.h"
#include "analyzer/verdict/counters/counter_evidence.h"
#include "analyzer/verdict/evidence.h"
#include "analyzer/verdict/host_code.h"
#include "analyzer/verdict/judge_recording.h"
#include "analyzer/verdict/labels.h"
#include "analyzer/verdict/lever_values.h"
#include "analyzer/verdict/levers.h"
#include "analyzer/verdict/new_utilisation.h"
#include "analyzer/verdict/savings/model_error.h"
#include "analyzer/verdict/skew_causes.h"
#include "schemas/try_levers.h"

namespace traceinject {
namespace {

// One window, or one or two steps, say nothing about how much it may be.
template <typename Message>
void IntervalOf(const CauseSaving& from, const Steps& steps, Message& to) {
  if (steps.few()) return;
  const StatedInterval stated = StatedIntervalOf(from);
  to.set_saved_low_ns(Whole(stated.low_ns));
  to.set_saved_high_ns(Whole(stated.high_ns));
  to.set_scatter_low_ns(Whole(from.low_ns));
  if constexpr (std::is_same_v<Message, proto::Verdict>) {
    to.set_scatter_high_ns(Whole(from.high_ns));
    to.set_error_cases(stated.cases);
  }
}

void SavingOf(const CauseSaving& from, const Steps& steps, proto::Saving& to) {
  to.set_label(std::string(from.label));
  to.set_title(std::string(TitleOf(from.label)));
  to.set_place(from.place);
  to.set_saved_ns(Whole(from.saved_ns));
  IntervalOf(from, steps, to);
}

void BetweenOf(const BetweenSteps& from, proto::BetweenSteps& to) {
  to.set_label(std::string(from.label));
  to.set_title(std::string(TitleOf(from.label)));
  to.set_ns(from.ns);
  to.set_share(from.share);
  to.set_all_share(from.all_share);
  to.set_times(from.times);
  to.set_text(from.text);
  to.set_place(from.place);
}

void EvidenceOf(const EvidenceLine& line, const DeviceAnalysis& judged, TimeNs origin,
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

// What `analyze try` is given to measure the lever, where it can be applied from outside and the
// value is known.
std::string TryOf(const LeverRow& row, const LeverFacts& facts) {
  std::string text(row.try_with);
  if (!text.ends_with('=')) return text;
  for (const LeverValue& value : facts.values) {
    if (value.name + "=" == text && !value.suggested.empty()) return text + value.suggested;
  }
  return {};
}

// Variables that ought to be set otherwise: "env.NCCL_P2P_DISABLE=" takes it away.
std::string TryOf(const std::vector<LeverValue>& variables) {
  std::string text;
  for (const LeverValue& value : variables) {
    if (value.suggested.empty()) continue;
    text += fmt::format("{}{}{}={}", text.empty() ? "" : ",", kTryVariable, value.name,
                        value.suggested == "unset" ? "" : value.suggested);
  }
  return text;
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
    if (lever->try_().empty()) lever->set_try_(TryOf(values));
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

// The mean of the steps that the cause is spread over: of what lies between regular steps, all.
std::int64_t StepOf(const DeviceAnalysis& judged, const Savings& savings,
                    const Decision& decision) {
  const bool is_between = !savings.between.empty() && decision.cause == &savings.between[0].saving;
  if (is_between) return Whole(decision.cause->step_ns);
  return judged.steps.judged_mean_ns().value_or(Whole(savings.step_ns));
}

void VerdictOf(const Judgement& judgement, const proto::Ranks& between, TimeNs origin,
               proto::Verdict& to) {
  const DeviceAnalysis& judged = *judgement.device;
  const Savings& savings = judgement.savings;
  const Decision& decision = judgement.decision;
  to.set_label(decision.label);
  to.set_title(std::string(TitleOf(decision.label)));
  to.set_device(judged.label);
  to.set_steps_source(std::string(StepSourceName(judged.steps.source)));
  to.set_steps(judged.steps.source == StepSource::kWindow
                   ? 0
                   : static_cast<std::int64_t>(judged.steps.count_judged()));
  to.set_step_ns(StepOf(judged, savings, decision));
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
    IntervalOf(*decision.cause, judged.steps, to);
    to.set_new_step_ns(to.step_ns() - to.recording_ns() - to.saved_ns());
    to.set_margin(decision.margin);
    if (decision.cause->finding != nullptr) to.set_replay_error(between.replay_error());
    to.set_place(decision.cause->place);
  }
  if (decision.runner_up != nullptr)
    SavingOf(*decision.runner_up, judged.steps, *to.mutable_runner_up());
  for (const CauseSaving& saving : savings.causes) {
    if (Whole(saving.saved_ns) > 0) SavingOf(saving, judged.steps, *to.add_savings());
  }
  for (const BetweenSteps& steps : savings.between) BetweenOf(steps, *to.mutable_between());
  for (const std::string& caveat : decision.caveats) to.add_caveats(caveat);
  Waterfall waterfall;
  if (decision.label == "compute_bound") {
    const DeviceFigures& figures = *judgement.device;
    waterfall = WaterfallOfDevice(figures, figures.partition, figures.compute, figures.telemetry);
    const auto steps = static_cast<double>(judged.steps.count_judged());
    to.set_loss(LossSentence(waterfall, steps));
    if (!to.loss().empty()) to.add_evidence()->set_text(to.loss() + LossItems(waterfall, steps));
    if (const std::string limits = KernelLimitsOf(figures, steps); !limits.empty())
      to.add_evidence()->set_text(limits);
  }
  for (const EvidenceLine& line : EvidenceFor(judged, savings, decision))
    EvidenceOf(line, judged, origin, *to.add_evidence());
  for (const KernelSaving& saving : savings.kernels) {
    if (saving.label != decision.label) continue;
    const CounterEvidence counters = CounterEvidenceOf(*judgement.device, saving);
    if (!counters.text.empty()) to.add_evidence()->set_text(counters.text);
    if (!counters.caveat.empty()) to.add_caveats(counters.caveat);
  }
  if (decision.cause != nullptr && decision.cause->finding != nullptr)
    FindingLevers(*decision.cause->finding, to);
  for (const KernelSaving& saving : savings.kernels) {
    if (saving.label == decision.label) AdviceOf(saving, to);
  }
  const LeverContext context{judged, static_cast<double>(to.new_step_ns())};
  std::vector<LeverRow> rows = LeversOf(decision.label, *judged.rank);
  for (const LeverRow& row : LeversOfLoss(waterfall, *judged.rank)) rows.push_back(row);
  for (const LeverRow& row : rows) {
    const LeverFacts facts = row.facts == nullptr ? LeverFacts() : row.facts(context);
    if (facts.is_set) continue;
    proto::Lever& lever = *to.add_levers();
    for (const LeverValue& value : facts.values) ValueOf(value, lever);
    lever.set_setting(std::string(row.setting));
    lever.set_change(std::string(row.change));
    lever.set_source(std::string(row.source));
    lever.set_try_(TryOf(row, facts));
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

proto::DeviceReport& ReportOn(const DeviceAnalysis& judged, Report& report) {
  return *std::find_if(
      report.mutable_devices()->begin(), report.mutable_devices()->end(),
      [&](const proto::DeviceReport& device) { return device.label() == judged.label; });
}

// What rests on withheld figures.
void ClearVerdictFigures(proto::Verdict& verdict) {
  verdict.clear_savings();
  verdict.clear_evidence();
  verdict.clear_code();
  verdict.clear_code_of_ns();
  verdict.clear_loss();
  verdict.clear_between();
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

// Of a verdict that there is none of because of them.
void SayHostWaits(const DeviceFigures& device, proto::Verdict& to) {
  for (const HostWait& wait : device.host_waits) {
    const std::string place = PlaceText(*device.rank, wait.place);
    to.add_evidence()->set_text(fmt::format("unrecorded host activity, {}: {} in all steps{}",
                                            HostWaitReasonName(wait.reason), FormatTime(wait.ns),
                                            place.empty() ? "" : ", mostly at " + place));
  }
}

void NoWorkOf(proto::Verdict& to) {
  to.set_label("inconclusive");
  to.set_title(std::string(TitleOf(to.label())));
  to.set_abstained("The run contains no GPU work in this window.");
  to.set_confidence(0);
}

// What is said of devices beside their figures, for the verdict or because it rests on steps.
void FindingsOf(const RunAnalysis& analysis, const Judgement& judgement, Report& report) {
  AddSmallKernels(analysis, report);
  if (analysis.trust.Grounds().empty()) {
    for (const DeviceFigures& device : analysis.devices)
      AddBucketFindings(device, ReportOn(device, report));
  }
  AddSlowCommunication(judgement.decision.label, WayOf(*judgement.device->rank),
                       ReportOn(*judgement.device, report));
}

}  // namespace

void WriteVerdict(const RunAnalysis& analysis, const Judgement& judgement,
                  const proto::Ranks& between, Report& report) {
  proto::Verdict& verdict = *report.mutable_verdict();
  if (IsStopped(analysis.options.stop)) return;
  if (judgement.device == nullptr) return NoWorkOf(verdict);
  const Decision& decision = judgement.decision;
  const proto::DeviceReport& device = ReportOn(*judgement.device, report);
  VerdictOf(judgement, between, analysis.origin_ns(), verdict);
  AddCodeEvidence(*judgement.device, decision.label, verdict);
  if (decision.unexplained) SayHostWaits(*judgement.device, verdict);
  AddCodeLevers(analysis.run->base_ns + judgement.device->rank->start, verdict);
  FixesOf(judgement.fixes, verdict);
  if (!decision.abstained.empty() || !IsPlayed(between)) SayBetweenRanks(between, verdict);
  FindingsOf(analysis, judgement, report);
  if (decision.label == "comm_exposed") LinkLevers(device, verdict);
  if (decision.label == "compute_bound") KernelLevers(device, verdict);
  EnvironmentOf(*judgement.device->rank, verdict);
  if (!decision.abstained.empty() && !analysis.trust.withheld.empty()) ClearVerdictFigures(verdict);
  AddNewUtilization(report);
  JudgeRecording(report);
}

}  // namespace traceinject
