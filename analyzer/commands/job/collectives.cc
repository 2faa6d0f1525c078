// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <limits>

#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/job_options.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/progress_bar.h"
#include "analyzer/commands/shared/row_options.h"
#include "analyzer/common/units.h"
#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/load/load_job.h"
#include "analyzer/report/tables/ranks_tables.h"

namespace traceinject {
namespace {

std::string TextOf(const proto::Ranks& ranks, const Table& table, std::int64_t left_out,
                   const JobCommand& command, const RowOptions& rows) {
  const PageStyle style = StyleOf(command);
  TextPage page(style.color, style.width);
  page.Sentence(fmt::format("{} operations were matched across ranks",
                            FormatCount(ranks.matched_operations())),
                0);
  if (table.rows.empty()) page.Sentence("no rows");
  WriteRows(table, left_out, rows, style.width, page);
  for (const std::string& note : ranks.notes()) page.Sentence("note: " + note);
  return page.text();
}

}  // namespace

int RunCollectives(const std::vector<std::string>& arguments) {
  JobCommand command{.program = "analyze collectives"};
  RowOptions rows;
  const std::vector<TableColumn> columns = CollectiveColumns();
  CLI::App app(
      "NCCL operations matched across ranks: duration, last rank to arrive, and how much of it was "
      "data transfer.",
      command.program);
  app.footer(
      fmt::format("Columns, for --sort and --columns, as named in csv and json:\n"
                  "{}\n"
                  "An operation ends at the same moment on all its ranks, so the longest kernel "
                  "belongs to the rank\n"
                  "that arrived first and the shortest to the last: no common clock is needed.\n\n"
                  "Examples:\n"
                  "  analyze collectives run.db --sort skew_ns\n"
                  "  analyze collectives run.db --filter AllGather --sort exposed_ns --limit 50\n"
                  "  analyze collectives run.db --format csv -o collectives.csv\n",
                  ColumnHelp(columns)));
  AddJobOptions(app, command,
                "recordings (run.db stands for run.rank*.db), summaries (*.summary), or folders of "
                "these");
  AddRowOptions(app, columns, rows);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  const Result<Job> job = [&] {
    ProgressBar bar(!command.no_progress);
    return LoadJob(command.paths, ReadingOptions(command, &bar));
  }();
  const auto found = JobOrExplain(command, job);
  if (const int* exit_code = std::get_if<int>(&found)) return *exit_code;
  const proto::Ranks ranks =
      AnalyzeJob(*std::get<const Job*>(found),
                 {.collectives = std::numeric_limits<int>::max(), .lost_time = false});
  Table table = CollectiveTable(ranks);
  if (!rows.sort) rows.sort = FindColumn(columns, "length_ns");
  const std::int64_t left_out = ChooseRows(table, ranks.collectives_size(), rows);
  const std::string text = rows.format == "text" ? TextOf(ranks, table, left_out, command, rows)
                                                 : RenderRows(table, left_out, rows);
  return WriteOrExplain(command.program, command.output, text);
}

}  // namespace traceinject
