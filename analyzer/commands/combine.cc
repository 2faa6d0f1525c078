// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/analyze.h"
#include "analyzer/commands/arguments.h"
#include "analyzer/commands/job_options.h"
#include "analyzer/commands/progress_bar.h"
#include "analyzer/ranks/load_job.h"

namespace traceinject {

int RunCombine(const std::vector<std::string>& arguments) {
  JobCommand command{.program = "analyze combine"};
  CLI::App app(
      "Puts the ranks of a job together: from summaries that were made where the recordings "
      "are, or from recordings.",
      command.program);
  app.footer(
      "Examples:\n"
      "  analyze combine summaries/             all summaries in a folder\n"
      "  analyze combine run.db                 the same from the recordings, run.rank*.db\n"
      "  analyze combine a.summary b.summary    those of two nodes\n");
  AddJobOptions(app, command,
                "summaries (*.summary), recordings (run.db stands for run.rank*.db), or folders of "
                "these");
  AddJobReportOptions(app, command);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  const Result<Job> job = [&] {
    ProgressBar bar(!command.no_progress);
    return LoadJob(command.paths, ReadingOptions(command, &bar));
  }();
  return WriteJobOrExplain(command, job);
}

}  // namespace traceinject
