// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/build_report.h"

#include <string>
#include <utility>

#include "analyzer/metrics/idle/host_activity.h"
#include "analyzer/metrics/machine/hygiene.h"
#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/metrics/report/printable.h"
#include "analyzer/metrics/report/report_writer.h"
#include "analyzer/metrics/report/withhold.h"
#include "analyzer/metrics/report/write_scope.h"

namespace traceinject {
namespace {

constexpr int kReportVersion = 1;

void WriteDevices(const RunAnalysis& analysis, const ReportWriter& writer, Report& report) {
  for (const DeviceFigures& found : analysis.devices) {
    if (IsStopped(analysis.options.stop)) return;
    Intervals gaps;
    for (const Gap& gap : found.gaps.longest) gaps.push_back(gap.time);
    const HostActivities activities(*found.rank, std::move(gaps));
    writer.Device(found, activities, *report.add_devices());
  }
}

}  // namespace

Report WriteFigures(const RunAnalysis& analysis) {
  const ReportOptions& options = analysis.options;
  Report report;
  report.set_tool_version(TRACEINJECT_VERSION);
  report.set_report_version(kReportVersion);
  for (const std::string& note : analysis.notes) report.add_notes(note);
  if (IsStopped(options.stop)) return report;
  const ReportWriter writer(*analysis.run, options, analysis.origin_ns());
  writer.Sources(report);
  if (!analysis.devices.empty()) WriteScope(analysis, analysis.devices.front(), report);
  WriteDevices(analysis, writer, report);
  if (IsStopped(options.stop)) return report;
  writer.RunSums(analysis.devices, *report.mutable_run());
  writer.DataLoaders(analysis.devices, report);
  writer.Stalls(report);
  if (options.last_stacks) writer.LastStacks(report);
  writer.RecordingCosts(report);
  writer.Tries(report);
  if (options.nvtx_ranges) writer.NvtxRanges(analysis.devices, report);
  writer.MfuBlock(analysis.mfu, *report.mutable_mfu());
  writer.HealthBlock(analysis.health, *report.mutable_health());
  WithholdFigures(analysis.trust, report);
  AddHygiene(*analysis.run, report);
  return report;
}

Report BuildReport(const Run& run, const ReportOptions& options) {
  Report report = WriteFigures(AnalyzeRun(run, options, Depth::kFigures));
  MakePrintable(report);
  return report;
}

}  // namespace traceinject
