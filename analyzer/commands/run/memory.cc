// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

// The peaks of each GPU, as far as they are known.
std::string Peaks(const Report& report) {
  std::string text;
  for (const proto::DeviceReport& device : report.devices()) {
    std::string peaks;
    const proto::Allocator& allocator = device.allocator();
    if (allocator.has_peak_allocated_bytes() && allocator.has_peak_reserved_bytes())
      peaks = fmt::format("peak {} in tensors, {} reserved by PyTorch",
                          FormatBytes(allocator.peak_allocated_bytes()),
                          FormatBytes(allocator.peak_reserved_bytes()));
    if (device.has_memory_calls())
      peaks +=
          fmt::format("{}peak {} held of what was allocated while recording",
                      peaks.empty() ? "" : ", ", FormatBytes(device.memory_calls().peak_bytes()));
    if (!peaks.empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", device.label(), peaks);
  }
  return text;
}

FullTable BuildMemory(const Run& run, const ReportOptions& options,
                      Table (*table_of)(const Report& report)) {
  ReportOptions how = options;
  how.memory = true;
  FullTable full{BuildFiguresOfVerdict(run, how), "", {}, 0};
  full.summary = Peaks(full.report);
  full.table = table_of(full.report);
  if (full.summary.empty() && full.table.rows.empty())
    full.summary = "no memory data was recorded in this time";
  full.rows = static_cast<std::int64_t>(full.table.rows.size());
  return full;
}

FullTable BuildCalls(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return BuildMemory(run, options, AllocationTable);
}

FullTable BuildSamples(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return BuildMemory(run, options, MemorySampleTable);
}

constexpr char kMemoryExamples[] =
    "  analyze memory run.db                            which calls, how often, how long\n"
    "  analyze memory run.db --steps 20..30             after warm-up there should be none\n"
    "  analyze memory run.db --samples --format csv -o memory.csv\n";

}  // namespace

int RunMemory(const std::vector<std::string>& arguments) {
  const TableCommand tables[] = {
      {"analyze memory",
       "CUDA calls that allocate or free memory, by function, summed over the processes of a run, "
       "sorted by time.",
       "PyTorch's caching allocator serves most requests without such a call. A call counts in "
       "the\n"
       "window in which it begins, for any GPU of its process.\n",
       kMemoryExamples, AllocationColumns(), BuildCalls},
      {"analyze memory", "Memory of each GPU over time.",
       "PyTorch's figures are sampled about once a second; without them there is one row per GPU\n"
       "sample (TRACEINJECT_TELEMETRY_HZ).\n",
       kMemoryExamples, MemorySampleColumns(), BuildSamples, nullptr, "--samples",
       "show memory of each GPU over time instead (--samples --help lists the columns)"},
  };
  return RunTable(tables, arguments);
}

}  // namespace traceinject
