// SPDX-License-Identifier: Apache-2.0
// All that is found out about a run. Verdict and message are made of it: neither looks again.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/kernels/mfu.h"
#include "analyzer/metrics/report/device_figures.h"
#include "analyzer/metrics/report/health.h"
#include "analyzer/metrics/report/report_options.h"
#include "analyzer/metrics/report/trust.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct RunAnalysis {
  const Run* run = nullptr;
  ReportOptions options;
  std::optional<TimeNs> origin;  // of the times in the message; empty: there is no GPU operation
  std::vector<std::string> notes;
  std::deque<DeviceFigures> devices;  // that were asked for, in the order of the run
  Mfu mfu;
  TrustJudgement trust;  // of the others, too
  RecordingHealth health;

  TimeNs origin_ns() const { return origin.value_or(0); }
};

// It points into the run. Stopped: some parts are empty. O(events log events).
RunAnalysis AnalyzeRun(const Run& run, const ReportOptions& options, Depth depth);

}  // namespace traceinject
