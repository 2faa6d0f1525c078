// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/build_report.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/metrics/idle/host_activity.h"
#include "analyzer/metrics/machine/hygiene.h"
#include "analyzer/metrics/report/device_analysis.h"
#include "analyzer/metrics/report/health.h"
#include "analyzer/metrics/report/printable.h"
#include "analyzer/metrics/report/report_writer.h"
#include "analyzer/metrics/report/trust.h"
#include "analyzer/metrics/report/withhold.h"

namespace traceinject {
namespace {

constexpr int kReportVersion = 1;

void WriteDevices(const std::deque<DeviceAnalysis>& devices, const ReportWriter& writer,
                  StopFlag stop, Report& report) {
  for (const DeviceAnalysis& found : devices) {
    if (IsStopped(stop)) return;
    Intervals gaps;
    for (const Gap& gap : found.gaps.longest) gaps.push_back(gap.time);
    const HostActivities activities(*found.rank, std::move(gaps));
    writer.Device(found, activities, *report.add_devices());
  }
}

Mfu MfuOf(const Run& run, const std::deque<DeviceAnalysis>& devices, const ReportOptions& options) {
  std::vector<MfuDevice> used;
  Interval window, span;
  for (const DeviceAnalysis& found : devices) {
    const Interval all = found.window.restricted ? *GpuSpan(found.device->ops) : found.window.time;
    if (used.empty()) {
      window = found.window.time;
      span = all;
    }
    used.push_back({found.rank, found.device, found.window.time,
                    found.telemetry ? found.telemetry->busy_sm_clock_mhz : std::nullopt});
    window = {std::min(window.start, found.window.time.start),
              std::max(window.end, found.window.time.end)};
    span = {std::min(span.start, all.start), std::max(span.end, all.end)};
  }
  MfuOptions how = options.mfu;
  // The window holds the chosen steps and nothing else.
  if (options.steps && !how.steps)
    how.steps = static_cast<std::int64_t>(options.steps->last - options.steps->first + 1);
  return ComputeMfu(run, used, span, window, how, options.pattern());
}

}  // namespace

Report BuildReport(const Run& run, const ReportOptions& options) {
  Report report;
  report.set_tool_version(TRACEINJECT_VERSION);
  report.set_report_version(kReportVersion);
  for (const std::string& note : run.notes) report.add_notes(note);
  const std::optional<TimeNs> origin = RunOrigin(run);
  if (!origin) report.add_notes("The run contains no GPU operation.");

  std::deque<DeviceAnalysis> devices = AnalyzeDevices(run, origin.value_or(0), options, report);
  if (IsStopped(options.stop)) return report;
  MatchRanks(devices, report);
  std::vector<TrustedDevice> trusted;  // what is wrong with those that are left out is told, too
  for (const DeviceAnalysis& found : devices)
    trusted.push_back({found.rank_index, found.partition, found.join});
  std::erase_if(devices, [&](const DeviceAnalysis& found) {
    return !options.devices.takes(*found.rank, *found.device);
  });
  const ReportWriter writer(run, options, origin.value_or(0));
  writer.Sources(report);
  WriteDevices(devices, writer, options.stop, report);
  if (IsStopped(options.stop)) return report;
  writer.RunSums(devices, *report.mutable_run());
  writer.DataLoaders(devices, report);
  writer.Stalls(report);
  writer.RecordingCosts(report);
  if (options.nvtx_ranges) writer.NvtxRanges(devices, report);
  writer.MfuBlock(MfuOf(run, devices, options), *report.mutable_mfu());
  JoinRate join;
  for (const DeviceAnalysis& found : devices) join += found.join;
  const TrustJudgement trust = JudgeTrust(run, trusted);
  writer.HealthBlock(JudgeHealth(run, join, trust), *report.mutable_health());
  WithholdFigures(trust, report);
  AddHygiene(run, report);
  MakePrintable(report);
  return report;
}

}  // namespace traceinject
