// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

// The peaks of each GPU, as far as they are known.
std::string Peaks(const Report& report) {
  std::string text;
  for (const proto::DeviceReport& device : report.devices()) {
    std::string peaks;
    const proto::Allocator& allocator = device.allocator();
    if (allocator.has_peak_allocated_bytes() && allocator.has_peak_reserved_bytes())
      peaks = fmt::format("at most {} in tensors, {} reserved by PyTorch",
                          FormatBytes(allocator.peak_allocated_bytes()),
                          FormatBytes(allocator.peak_reserved_bytes()));
    if (device.has_memory_calls())
      peaks +=
          fmt::format("{}at most {} held of what was allocated while recording",
                      peaks.empty() ? "" : ", ", FormatBytes(device.memory_calls().peak_bytes()));
    if (!peaks.empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", device.label(), peaks);
  }
  return text;
}

FullTable Build(const Run& run, const ReportOptions& options,
                Table (*table_of)(const Report& report)) {
  ReportOptions how = options;
  how.memory = true;
  FullTable full{BuildReport(run, how), "", {}, 0};
  full.summary = Peaks(full.report);
  full.table = table_of(full.report);
  if (full.summary.empty() && full.table.rows.empty())
    full.summary = "nothing about memory was recorded in this time";
  full.rows = static_cast<std::int64_t>(full.table.rows.size());
  return full;
}

FullTable BuildCalls(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return Build(run, options, AllocationTable);
}

FullTable BuildSamples(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return Build(run, options, MemorySampleTable);
}

constexpr char kExamples[] =
    "  analyze memory run.db                            which calls, how often, how long\n"
    "  analyze memory run.db --steps 20..30             after warm-up there should be none\n"
    "  analyze memory run.db --samples --format csv -o memory.csv\n";

}  // namespace

int RunMemory(const std::vector<std::string>& arguments) {
  const TableCommand tables[] = {
      {"analyze memory",
       "Calls of CUDA that take memory or give it back, by function, summed over the processes of "
       "a run, by time.",
       "What PyTorch's caching allocator hands out of what it holds needs no such call. A call\n"
       "counts in the window in which it begins, on whatever GPU of its process.\n",
       kExamples, AllocationColumns(), BuildCalls},
      {"analyze memory", "Memory of each GPU over time.",
       "PyTorch's figures come about once a second; without them there is a row for each sample "
       "of\n"
       "the card (TRACEINJECT_TELEMETRY_HZ).\n",
       kExamples, MemorySampleColumns(), BuildSamples, nullptr, "--samples",
       "instead: memory of each GPU over time (--samples --help lists its columns)"},
  };
  return RunTable(tables, arguments);
}

}  // namespace traceinject
