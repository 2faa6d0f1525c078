// SPDX-License-Identifier: Apache-2.0
// The report with its verdict, worked out on a thread of its own: the same message as `analyze`
// prints, for all of the run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "analyzer/verdict/judged_report.h"
#include "analyzer/view/excerpt/chosen_steps.h"
#include "viewer/core/load/background_load.h"
#include "viewer/core/load/latest_task.h"

namespace traceinject {

// A run to judge. It stays as long as it is being judged.
struct ReportRequest {
  std::shared_ptr<const LoadedRun> loaded;
  int opening = 0;  // a number for all states of one run that grows
  bool operator==(const ReportRequest&) const = default;
};

// The steps that show what the verdict says, of a rank, an index into Run::ranks.
struct GuiltySteps {
  std::uint32_t rank = 0;
  ChosenSteps steps;
};

struct RunReport {
  int opening = 0;
  proto::Report report;
  std::shared_ptr<const LoadedRun> loaded = nullptr;       // what `judged` points into
  std::shared_ptr<const DeviceAnalysis> judged = nullptr;  // that the verdict is about
  // Those that the page of `analyze html` shows. Empty without steps, and where the verdict
  // abstains.
  std::optional<GuiltySteps> guilty = std::nullopt;
};

using ReportTask = LatestTask<ReportRequest, RunReport>;

// Nothing if it was cancelled.
std::optional<RunReport> ReportOn(const ReportRequest& request, const std::atomic<bool>& cancelled);

}  // namespace traceinject
