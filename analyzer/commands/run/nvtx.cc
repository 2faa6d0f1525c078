// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kNvtxAbout[] =
    "NVTX ranges by name, summed over the processes of a run, with the GPU work launched inside "
    "them, sorted by the time of that work.";
constexpr char kNvtxDefinitions[] =
    "Work belongs to the ranges that were open on the launching thread at the time of the launch.\n"
    "Kernels that PyTorch's autograd threads launch in a backward pass belong to ranges of those\n"
    "threads only, not to a \"backward\" range on the thread that waits for them.\n"
    "GPU times are sums of durations: work in parallel counts twice. The self times, with the "
    "rows\n"
    "\"(in no range)\" and \"(launch not recorded)\", add up to all GPU work. Nested ranges of "
    "the\n"
    "same name count once in the totals.\n";
constexpr char kNvtxExamples[] =
    "  analyze nvtx run.db --sort gpu_self_ns\n"
    "  analyze nvtx run.db --filter '^(forward|backward)$' --columns all\n"
    "  analyze nvtx run.db --steps 10..20 --format json\n";

std::string NvtxSummary(const Report& report) {
  std::int64_t ranges = 0, inside_ns = 0, outside_ns = 0;
  for (const proto::NvtxRange& range : report.nvtx_ranges()) {
    ranges += range.count();
    (range.outside() ? outside_ns : inside_ns) += range.gpu_self_ns();
  }
  if (ranges == 0) return "no NVTX ranges";
  return fmt::format("{}: {} of {} of GPU work was launched inside ({})", Plural(ranges, "range"),
                     FormatTime(inside_ns), FormatTime(inside_ns + outside_ns),
                     FormatShare(inside_ns, inside_ns + outside_ns));
}

FullTable BuildNvtx(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  ReportOptions how = options;
  how.nvtx_ranges = true;
  FullTable full{BuildFiguresOfVerdict(run, how), "", {}, 0};
  full.summary = NvtxSummary(full.report);
  full.table = NvtxTable(full.report);
  full.rows = full.report.nvtx_ranges_size();
  return full;
}

}  // namespace

int RunNvtx(const std::vector<std::string>& arguments) {
  const TableCommand table{"analyze nvtx", kNvtxAbout,    kNvtxDefinitions,
                           kNvtxExamples,  NvtxColumns(), BuildNvtx};
  return RunTable({&table, 1}, arguments);
}

}  // namespace traceinject
