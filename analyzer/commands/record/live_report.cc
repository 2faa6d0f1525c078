// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/live_report.h"

#include <utility>

#include "analyzer/commands/record/live_paths.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/ranks/match/align_run.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {

Result<Report> ReadLiveReport(const LiveOptions& options) {
  LoadOptions how;
  how.last_ns = options.last_ns;
  how.stop = options.report.stop;
  auto run = LoadRun(FindLivePaths(options.paths).paths, how);
  if (!run.ok()) return Error{run.error()};
  for (std::string& done : AlignRun(run.value())) run.value().notes.push_back(std::move(done));
  return BuildReportWithVerdict(run.value(), options.report);
}

}  // namespace traceinject
