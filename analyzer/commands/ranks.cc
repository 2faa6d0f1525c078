// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/analyze.h"
#include "analyzer/commands/arguments.h"
#include "analyzer/commands/job_options.h"
#include "analyzer/commands/progress_bar.h"
#include "analyzer/ranks/load_job.h"

namespace traceinject {

int RunRanks(const std::vector<std::string>& arguments) {
  JobCommand command{.program = "analyze ranks"};
  CLI::App app(
      "What the ranks of a job do to each other: who holds the others up and why, slow links, "
      "uneven work, pipeline bubbles, operations in which ranks hang, and a row for every rank.",
      command.program);
  app.footer(
      "Own time is what a rank would take alone: its step without the time that it was blocked by\n"
      "communication. Its peers are the ranks with like work: those of its pipeline stage.\n"
      "\nExamples:\n"
      "  analyze ranks run.db                   all ranks: run.db stands for run.rank*.db\n"
      "  analyze ranks run/ --rows 0            every rank in a folder\n"
      "  analyze ranks summaries/               from what analyze summarize wrote on the nodes\n"
      "  analyze ranks run.db --format json -o ranks.json\n");
  AddJobOptions(app, command,
                "recordings (run.db stands for run.rank*.db), summaries (*.summary), or folders of "
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
