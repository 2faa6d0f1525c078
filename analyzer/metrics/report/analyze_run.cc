// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/analyze_run.h"

#include <algorithm>
#include <cstdint>

#include "analyzer/metrics/steps/window.h"

namespace traceinject {
namespace {

Mfu MfuOf(const RunAnalysis& analysis) {
  std::vector<MfuDevice> used;
  Interval window, span;
  for (const DeviceFigures& found : analysis.devices) {
    const Interval all = found.window.restricted ? *GpuSpan(found.device->ops) : found.window.time;
    if (used.empty()) {
      window = found.window.time;
      span = all;
    }
    used.push_back({found.rank, found.device, found.window.time, &found.steps,
                    found.telemetry ? found.telemetry->busy_sm_clock_mhz : std::nullopt});
    window = {std::min(window.start, found.window.time.start),
              std::max(window.end, found.window.time.end)};
    span = {std::min(span.start, all.start), std::max(span.end, all.end)};
  }
  const ReportOptions& options = analysis.options;
  MfuOptions how = options.mfu;
  // The window holds the chosen steps and nothing else.
  if (options.steps && !how.steps)
    how.steps = static_cast<std::int64_t>(options.steps->last - options.steps->first + 1);
  return ComputeMfu(*analysis.run, used, span, window, how, options.pattern());
}

// Where launches are known wrongly, so is which operations belong to which step.
void MeasureUncertain(RunAnalysis& analysis, Depth depth) {
  for (DeviceFigures& device : analysis.devices) {
    const TrustJudgement& trust = analysis.trust;
    if (trust.Withheld(device.rank_index, Figures::kGapCauses) != nullptr ||
        trust.WithholdsSteps(device.rank_index))
      MeasureWhole(device, analysis.options, depth);
  }
}

}  // namespace

RunAnalysis AnalyzeRun(const Run& run, const ReportOptions& options, Depth depth) {
  RunAnalysis found;
  found.run = &run;
  found.options = options;
  found.notes = run.notes;
  found.origin = RunOrigin(run);
  if (!found.origin) found.notes.push_back("The run contains no GPU operation.");
  found.devices = AnalyzeDevices(run, found.origin_ns(), options, depth, found.notes);
  if (IsStopped(options.stop)) {
    found.devices.clear();
    return found;
  }
  MatchRanks(found.devices, found.notes);
  std::vector<TrustedDevice> trusted;  // what is wrong with those that are left out is told, too
  for (const DeviceFigures& device : found.devices)
    trusted.push_back({device.rank_index, device.partition, device.join});
  std::erase_if(found.devices, [&](const DeviceFigures& device) {
    return !options.devices.takes(*device.rank, *device.device);
  });
  found.mfu = MfuOf(found);
  JoinRate join;
  for (const DeviceFigures& device : found.devices) join += device.join;
  found.trust = JudgeTrust(run, trusted);
  if (!options.all) MeasureUncertain(found, depth);
  found.health = JudgeHealth(run, join, found.trust);
  return found;
}

}  // namespace traceinject
