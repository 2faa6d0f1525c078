// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/background_report.h"

#include <utility>

#include "analyzer/metrics/gpu/device_analysis.h"

namespace traceinject {
namespace {

std::optional<GuiltySteps> GuiltyStepsOf(const LoadedRun& loaded, const JudgedReport& found) {
  const bool has_steps = found.judged && !found.judged->steps.steps.empty() &&
                         found.judged->steps.source != StepSource::kWindow;
  if (!has_steps || found.report.verdict().label() == "inconclusive") return std::nullopt;
  return GuiltySteps{GuiltyRank(loaded.run, found), ChooseSteps(loaded.run, loaded.rows, found)};
}

}  // namespace

std::optional<RunReport> ReportOn(const ReportRequest& request,
                                  const std::atomic<bool>& cancelled) {
  ReportOptions options;
  options.stop = &cancelled;
  JudgedReport found = BuildJudgedReport(request.loaded->run, options);
  if (cancelled) return std::nullopt;
  std::optional<GuiltySteps> guilty = GuiltyStepsOf(*request.loaded, found);
  return RunReport{request.opening, std::move(found.report), request.loaded,
                   std::move(found.judged), std::move(guilty)};
}

}  // namespace traceinject
