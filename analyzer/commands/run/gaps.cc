// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kGapsAbout[] = "All GPU idle gaps, longest first.";
constexpr char kGapsDefinitions[] =
    "Causes as in the report's \"idle: ...\": data wait, sync, drained by sync, allocator,\n"
    "checkpoint, gc, launch, python, host wait, copy, communication, queued, unknown.\n"
    "To see a gap in traceview, set --from and --to around its start.\n";
constexpr char kGapsExamples[] =
    "  analyze gaps run.db --sort start_ns --limit 0\n"
    "  analyze gaps run.db --filter 'data wait' --columns start_ns,duration_ns,text\n"
    "  analyze gaps run.db --steps 10..12 --format json\n";

FullTable BuildGaps(const Run& run, const ReportOptions& options,
                    std::optional<std::size_t> enough) {
  ReportOptions how = options;
  how.longest_gaps = enough.value_or(std::numeric_limits<std::size_t>::max());
  how.gap_causes = true;
  FullTable full{BuildFiguresOfVerdict(run, how), "", {}, 0};
  full.table = GapTable(full.report);
  SortTable(full.table, *FindColumn(full.table.columns, "duration_ns"), false);
  full.rows = std::max<std::int64_t>(full.report.run().idle_causes().gap_count(),
                                     static_cast<std::int64_t>(full.table.rows.size()));
  full.summary = fmt::format("{} on {}, {} in total", Plural(full.rows, "gap"),
                             Plural(full.report.devices_size(), "GPU"),
                             FormatTime(full.report.run().partition().idle_ns()));
  return full;
}

}  // namespace

int RunGaps(const std::vector<std::string>& arguments) {
  const TableCommand table{"analyze gaps", kGapsAbout,   kGapsDefinitions,
                           kGapsExamples,  GapColumns(), BuildGaps};
  return RunTable({&table, 1}, arguments);
}

}  // namespace traceinject
