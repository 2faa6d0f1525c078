// SPDX-License-Identifier: Apache-2.0
// The report with its verdict, worked out on a thread of its own: the same message as `analyze`
// prints, for all of the run.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "analyzer/verdict/judged_report.h"
#include "viewer/core/load/background_load.h"
#include "viewer/core/load/latest_task.h"

namespace traceinject {

// A run to judge. It stays as long as it is being judged.
struct ReportRequest {
  std::shared_ptr<const LoadedRun> loaded;
  int opening = 0;  // a number for all states of one run that grows
  bool operator==(const ReportRequest&) const = default;
};

struct RunReport {
  int opening = 0;
  proto::Report report;
  std::shared_ptr<const LoadedRun> loaded = nullptr;       // what `judged` points into
  std::shared_ptr<const DeviceAnalysis> judged = nullptr;  // that the verdict is about
};

using ReportTask = LatestTask<ReportRequest, RunReport>;

inline std::optional<RunReport> ReportOn(const ReportRequest& request,
                                         const std::atomic<bool>& cancelled) {
  ReportOptions options;
  options.stop = &cancelled;
  JudgedReport found = BuildJudgedReport(request.loaded->run, options);
  if (cancelled) return std::nullopt;
  return RunReport{request.opening, std::move(found.report), request.loaded,
                   std::move(found.judged)};
}

}  // namespace traceinject
