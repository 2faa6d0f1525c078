// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

// The table has those only that came before.
void WriteWhenMemsetsEnd(TextReport& to) {
  std::int64_t first_ms = 0;
  for (const proto::HealthLine& line : to.report.health().lines()) {
    if (line.name() == "memset.left_out_ms" && (first_ms == 0 || line.value() < first_ms))
      first_ms = line.value();
  }
  if (first_ms == 0) return;
  to.page.Sentence(
      fmt::format("memsets: not recorded from {} after the start, because they were many and short "
                  "(TRACEINJECT_MEMSETS=all records them)",
                  FormatTime(first_ms * 1'000'000)));
}

}  // namespace

void WriteCopies(TextReport& to, const Repeated<proto::Copy>& copies, std::size_t rows) {
  if (copies.empty()) return to.page.Sentence("no copies");
  TextRows table = {{"copies", "memory", "count", "bytes", "time", "rate", "exposed"}};
  for (const proto::Copy& copy : copies) {
    if (table.size() > rows) break;
    const std::string memory =
        copy.source_memory().empty() ? "" : copy.source_memory() + " to " + copy.target_memory();
    table.push_back({copy.kind(), memory, FormatCount(copy.count()), FormatBytes(copy.bytes()),
                     FormatTime(copy.total_ns()),
                     copy.has_gb_per_s() ? FormatRate(copy.bytes(), copy.total_ns()) : kUnknownText,
                     FormatTime(copy.exposed_ns())});
  }
  to.page.Table(table, 2, 6);
  WriteMore(to, rows, copies.size());
  WriteWhenMemsetsEnd(to);
}

void WriteMemoryCalls(TextReport& to, const proto::MemoryCalls& memory) {
  to.page.Sentence(fmt::format(
      "{} of {} on the GPU and {}, {} in these calls; peak {} held{}",
      Plural(memory.allocations(), "allocation"), FormatBytes(memory.allocated_bytes()),
      Plural(memory.releases(), "release"), FormatTime(memory.call_ns()),
      FormatBytes(memory.peak_bytes()), to.report.devices_size() > 1 ? " on one GPU" : ""));
  if (to.report.steps_size() == 1 && to.report.steps(0).count() > 0) {
    to.page.Sentence(fmt::format("{:.2f} allocations per step",
                                 static_cast<double>(memory.allocations()) /
                                     static_cast<double>(to.report.steps(0).count())));
  }
  if (memory.host_allocations() > 0) {
    to.page.Sentence(fmt::format("{} of {} of pinned memory on the host",
                                 Plural(memory.host_allocations(), "allocation"),
                                 FormatBytes(memory.host_bytes())));
  }
}

void WriteAllocator(TextReport& to, const proto::DeviceReport& device) {
  const proto::Allocator& allocator = device.allocator();
  if (!allocator.has_peak_allocated_bytes() || !allocator.has_peak_reserved_bytes()) return;
  std::string text = fmt::format("PyTorch memory: peak {} in tensors, {} reserved",
                                 FormatBytes(allocator.peak_allocated_bytes()),
                                 FormatBytes(allocator.peak_reserved_bytes()));
  if (allocator.retries() > 0)
    text += fmt::format("; {} to free memory, each waiting for the GPU",
                        Plural(allocator.retries(), allocator.retries() == 1 ? "retry" : "retrie"));
  if (allocator.ooms() > 0)
    text += fmt::format("; out of memory {}", Plural(allocator.ooms(), "time"));
  to.page.Sentence(text);
}

}  // namespace traceinject
