// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/judged_report.h"

#include <utility>

#include "analyzer/common/stop_flag.h"
#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/metrics/report/printable.h"
#include "analyzer/metrics/report/report_code.h"
#include "analyzer/metrics/report/write_scope.h"
#include "analyzer/metrics/report/write_steps.h"
#include "analyzer/verdict/judge_run.h"
#include "analyzer/verdict/write_verdict.h"

namespace traceinject {
namespace {

void WriteJudgedCode(const RunAnalysis& analysis, const Judgement& judgement, Report& report) {
  if (IsStopped(analysis.options.stop)) return;  // not all devices may be there
  int index = 0;
  for (const DeviceFigures& found : analysis.devices) {
    if (&found == judgement.device)
      WriteCodeOfDevice(analysis, found, *report.mutable_devices(index));
    ++index;
  }
}

// What happens now and then is spread over more steps than other causes.
void JudgeStepsOfCause(const Judgement& judgement, RunAnalysis& analysis) {
  const CauseSaving* const cause = judgement.decision.cause;
  if (cause == nullptr || cause->finding != nullptr || !IsNowAndThen(cause->label)) return;
  for (DeviceFigures& device : analysis.devices) {
    if (device.steps.source == StepSource::kWindow) continue;
    JudgeOtherSteps(device,
                    &device == judgement.device ? cause->steps : StepsOfCause(device, cause->label),
                    analysis.options);
  }
}

// Over the steps that the verdict judges.
Report WriteJudgedFigures(RunAnalysis& analysis, const Judgement& judgement) {
  JudgeStepsOfCause(judgement, analysis);
  Report report = WriteFigures(analysis);
  for (const DeviceFigures& found : analysis.devices) {
    if (&found == judgement.device) WriteScope(analysis, found, report);
  }
  return report;
}

}  // namespace

Report BuildReportWithSteps(const Run& run, const ReportOptions& options) {
  const RunAnalysis analysis = AnalyzeRun(run, options, Depth::kCauses);
  Report report = WriteFigures(analysis);
  WriteSteps(analysis, report);
  MakePrintable(report);
  return report;
}

Report BuildFiguresOfVerdict(const Run& run, const ReportOptions& options) {
  if (options.all) return BuildReport(run, options);
  RunAnalysis analysis = AnalyzeRun(run, options, Depth::kCauses);
  const RankFindings between = FindBetweenRanks(analysis);
  const Judgement judgement = JudgeRun(analysis, between);
  Report report = WriteJudgedFigures(analysis, judgement);
  MakePrintable(report);
  return report;
}

Report WriteReport(RunAnalysis& analysis, const Judgement& judgement, const RankFindings& between) {
  Report report = WriteJudgedFigures(analysis, judgement);
  WriteSteps(analysis, report);
  WriteVerdict(analysis, judgement, between.ranks, report);
  AddRankFindings(between, report);
  WriteJudgedCode(analysis, judgement, report);
  MakePrintable(report);
  return report;
}

JudgedReport BuildJudgedReport(const Run& run, const ReportOptions& options) {
  RunAnalysis analysis = AnalyzeRun(run, options, Depth::kCauses);
  RankFindings between = FindBetweenRanks(analysis);
  const Judgement judgement = JudgeRun(analysis, between);
  JudgedReport found;
  found.report = WriteReport(analysis, judgement, between);
  for (DeviceFigures& device : analysis.devices) {
    found.devices.push_back(device.device);
    if (&device == judgement.device)
      found.judged =
          std::make_shared<const DeviceAnalysis>(std::move(static_cast<DeviceAnalysis&>(device)));
  }
  found.ranks = std::move(between.ranks);
  return found;
}

Report BuildReportWithVerdict(const Run& run, const ReportOptions& options) {
  return BuildJudgedReport(run, options).report;
}

}  // namespace traceinject
