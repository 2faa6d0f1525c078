// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/event_tables.h"

#include <type_traits>

namespace traceinject {
namespace {

// visit(rows, info) for those whose rows are counted.
template <typename SomeBatch, typename Visit>
void ForEachCounted(SomeBatch& batch, Visit visit) {
  ForEachEventTable(batch, [&](EventTable table, auto& rows) {
    const EventTableInfo& info = InfoOf(table);
    if (info.stored != kNotCounted) visit(rows, info);
  });
}

std::int64_t CountOf(const auto& rows) { return static_cast<std::int64_t>(rows.size()); }

}  // namespace

std::size_t EventRows(const Batch& batch) {
  std::size_t count = 0;
  ForEachCounted(batch, [&](const auto& rows, const EventTableInfo&) { count += rows.size(); });
  return count;
}

std::size_t DictionaryRows(const Batch& batch) {
  return batch.strings.size() + batch.graph_nodes.size() + batch.shapes.size() +
         batch.nvtx_categories.size() + batch.gemm_shapes.size() + batch.attention_shapes.size() +
         batch.workers.size() + batch.nccl_setups.size() + batch.nccl_links.size() +
         batch.code_places.size() + batch.stacks.size();
}

CounterValues RowsToStore(const Batch& batch) {
  CounterValues values{};
  ForEachCounted(batch, [&](const auto& rows, const EventTableInfo& info) {
    values[static_cast<std::size_t>(info.stored)] += CountOf(rows);
  });
  return values;
}

void CountStored(const Batch& batch) {
  ForEachCounted(batch, [](const auto& rows, const EventTableInfo& info) {
    g_counters.Add(info.stored, CountOf(rows));
  });
}

void DropEvents(Batch* batch) {
  ForEachCounted(*batch, [](auto& rows, const EventTableInfo& info) {
    g_counters.Add(info.dropped, CountOf(rows));
    rows = std::remove_reference_t<decltype(rows)>();  // with the memory
  });
  batch->clock_pairs.clear();
  batch->health.clear();
}

}  // namespace traceinject
