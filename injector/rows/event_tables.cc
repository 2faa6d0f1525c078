// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/event_tables.h"

namespace traceinject {
namespace {

template <typename Rows, typename Visit>
void ForEachEventTable(Rows& batch, Visit visit) {
  visit(batch.kernels, Health::kKernelStored, Health::kKernelDropped);
  visit(batch.memcpys, Health::kMemcpyStored, Health::kMemcpyDropped);
  visit(batch.memsets, Health::kMemsetStored, Health::kMemsetDropped);
  visit(batch.memory_operations, Health::kMemoryStored, Health::kMemoryDropped);
  visit(batch.apis, Health::kApiStored, Health::kApiDropped);
  visit(batch.syncs, Health::kSyncStored, Health::kSyncDropped);
  visit(batch.nvtx, Health::kNvtxStored, Health::kNvtxDropped);
  visit(batch.collectives, Health::kNcclStored, Health::kNcclDropped);
  visit(batch.collective_plans, Health::kNcclPluginStored, Health::kNcclPluginDropped);
  visit(batch.gemms, Health::kGemmStored, Health::kGemmDropped);
  visit(batch.attentions, Health::kAttentionStored, Health::kAttentionDropped);
  visit(batch.data_waits, Health::kDataWaitStored, Health::kDataWaitDropped);
  visit(batch.step_marks, Health::kStepMarkStored, Health::kStepMarkDropped);
  visit(batch.host_spans, Health::kHostSpanStored, Health::kHostSpanDropped);
  visit(batch.device_samples, Health::kDeviceSampleStored, Health::kDeviceSampleDropped);
  visit(batch.device_slow_samples, Health::kDeviceSampleStored, Health::kDeviceSampleDropped);
  visit(batch.allocator_samples, Health::kAllocatorSampleStored, Health::kAllocatorSampleDropped);
  visit(batch.host_samples, Health::kHostSampleStored, Health::kHostSampleDropped);
  visit(batch.worker_samples, Health::kWorkerSampleStored, Health::kWorkerSampleDropped);
  visit(batch.stack_samples, Health::kStackStored, Health::kStackDropped);
}

}  // namespace

std::size_t EventRows(const Batch& batch) {
  std::size_t rows = 0;
  ForEachEventTable(batch, [&](const auto& table, Health, Health) { rows += table.size(); });
  return rows;
}

std::size_t DictionaryRows(const Batch& batch) {
  return batch.strings.size() + batch.graph_nodes.size() + batch.shapes.size() +
         batch.nvtx_categories.size() + batch.gemm_shapes.size() + batch.attention_shapes.size() +
         batch.workers.size() + batch.nccl_setups.size() + batch.nccl_links.size() +
         batch.code_places.size() + batch.stacks.size();
}

CounterValues RowsToStore(const Batch& batch) {
  CounterValues rows{};
  ForEachEventTable(batch, [&](const auto& table, Health stored, Health) {
    rows[static_cast<std::size_t>(stored)] += static_cast<std::int64_t>(table.size());
  });
  return rows;
}

void CountStored(const Batch& batch) {
  ForEachEventTable(batch, [](const auto& table, Health stored, Health) {
    g_counters.Add(stored, static_cast<std::int64_t>(table.size()));
  });
}

void DropEvents(Batch* batch) {
  ForEachEventTable(*batch, [](auto& table, Health, Health dropped) {
    g_counters.Add(dropped, static_cast<std::int64_t>(table.size()));
    table.clear();
  });
  batch->clock_pairs.clear();
  batch->health.clear();
}

}  // namespace traceinject
