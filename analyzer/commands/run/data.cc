// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

std::string DataSummary(const Report& report) {
  if (report.data_loaders().empty()) return "no data loader was recorded";
  std::int64_t waits = 0, wait_ns = 0;
  for (const proto::DataLoader& loader : report.data_loaders()) {
    waits += loader.waits();
    wait_ns += loader.wait_ns();
  }
  std::string text =
      fmt::format("{} for data, together {}", Plural(waits, "wait"), FormatTime(wait_ns));
  if (const proto::Samples& samples = report.run().samples(); samples.has_per_step())
    text += fmt::format("; {:.6g} samples per step, {:.4g} per second", samples.per_step(),
                        samples.per_second());
  return text;
}

FullTable BuildDataSteps(const Run& run, const ReportOptions& options,
                         std::optional<std::size_t> enough) {
  ReportOptions how = options;
  how.step_rows = enough.value_or(std::numeric_limits<std::size_t>::max());
  FullTable full{BuildReportWithSteps(run, how), "", {}, 0, false};
  full.summary = DataSummary(full.report);
  full.table = DataStepTable(full.report);
  full.rows = StepRowsThatThereAre(full.report);
  return full;
}

FullTable Whole(Report report, Table (*table_of)(const Report& report)) {
  FullTable full{std::move(report), "", {}, 0};
  full.summary = DataSummary(full.report);
  full.table = table_of(full.report);
  full.rows = static_cast<std::int64_t>(full.table.rows.size());
  return full;
}

FullTable BuildLoaders(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return Whole(BuildFiguresOfVerdict(run, options), DataLoaderTable);
}

FullTable BuildWorkers(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return Whole(BuildFiguresOfVerdict(run, options), DataWorkerTable);
}

constexpr char kDataExamples[] =
    "  analyze data run.db --sort idle_data_wait_ns\n"
    "  analyze data run.db --loaders                    settings, waits and samples per loader\n"
    "  analyze data run.db --workers                    busy, or waiting for storage?\n";

}  // namespace

int RunData(const std::vector<std::string>& arguments) {
  const TableCommand tables[] = {
      {"analyze data", "Waits for data in each step, and the GPU idle time they caused.",
       "Steps are GPU steps, and the host runs ahead of the GPU: the waits during a step may be "
       "for a\n"
       "later batch.\n",
       kDataExamples, DataStepColumns(), BuildDataSteps},
      {"analyze data", "The data loaders the program waited for.",
       "Loaders are known only if the Python side was recorded.\n", kDataExamples,
       DataLoaderColumns(), BuildLoaders, nullptr, "--loaders",
       "show one row per data loader instead (--loaders --help lists the columns)"},
      {"analyze data", "The worker processes that prepare data.",
       "A worker that is always busy is CPU-bound; one that waits for storage is I/O-bound; one "
       "that\n"
       "does neither is waiting for training.\n",
       kDataExamples, DataWorkerColumns(), BuildWorkers, nullptr, "--workers",
       "show one row per worker process instead (--workers --help lists the columns)"},
  };
  return RunTable(tables, arguments);
}

}  // namespace traceinject
