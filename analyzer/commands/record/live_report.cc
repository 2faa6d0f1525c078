// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/live_report.h"

#include <utility>

#include "analyzer/commands/record/live_paths.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/ranks/match/align_run.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {

Result<Run> LoadLiveRun(const std::vector<std::string>& paths, const LiveOptions& options) {
  LoadOptions how;
  how.last_ns = options.last_ns;
  how.stop = options.report.stop;
  auto run = LoadRun(paths, how);
  if (!run.ok()) return run;
  for (std::string& done : AlignRun(run.value())) run.value().notes.push_back(std::move(done));
  return run;
}

Result<Report> ReadLiveReport(const LiveOptions& options) {
  const auto run = LoadLiveRun(FindLivePaths(options.paths).paths, options);
  if (!run.ok()) return Error{run.error()};
  return BuildReportWithVerdict(run.value(), options.report);
}

}  // namespace traceinject
