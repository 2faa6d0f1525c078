// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kKernelsAbout[] =
    "All kernels of a run by name, summed over its GPUs, sorted by total time.";
constexpr char kKernelsDefinitions[] =
    "A kernel counts in the window in which it starts, with its full duration.\n";
constexpr char kKernelsExamples[] =
    "  analyze kernels run.db --limit 0                 all of them\n"
    "  analyze kernels run.db --filter gemm --sort max_ns\n"
    "  analyze kernels run.db --rank 3 --steps 10..20 --format csv -o kernels.csv\n";

FullTable BuildKernels(const Run& run, const ReportOptions& options,
                       std::optional<std::size_t> enough) {
  ReportOptions how = options;
  how.top_kernels = enough.value_or(std::numeric_limits<std::size_t>::max());
  FullTable full{BuildFiguresOfVerdict(run, how), "", {}, 0};
  const proto::KernelTotals& totals = full.report.run().kernels();
  full.summary = fmt::format(
      "{} of {} on {}: {}, unclassified {}", Plural(totals.count(), "kernel"),
      Plural(totals.distinct_names(), "name"), Plural(full.report.devices_size(), "GPU"),
      FormatTime(totals.total_ns()), Percent(totals.unclassified_share()));
  full.table = KernelTable(full.report);
  full.rows = totals.distinct_names();
  return full;
}

}  // namespace

int RunKernels(const std::vector<std::string>& arguments) {
  const TableCommand table{"analyze kernels", kKernelsAbout,   kKernelsDefinitions,
                           kKernelsExamples,  KernelColumns(), BuildKernels};
  return RunTable({&table, 1}, arguments);
}

}  // namespace traceinject
