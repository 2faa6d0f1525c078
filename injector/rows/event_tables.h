// SPDX-License-Identifier: Apache-2.0
// The rows of a batch by what becomes of them, and the counters that tell of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "injector/base/counters.h"
#include "injector/rows/rows.h"
#include "schemas/event_tables.h"

namespace traceinject {

// Calls visit(table, rows) for all event tables, in the order in which they are written.
template <typename SomeBatch, typename Visit>
void ForEachEventTable(SomeBatch& batch, Visit visit) {
  visit(EventTable::kKernel, batch.kernels);
  visit(EventTable::kMemcpy, batch.memcpys);
  visit(EventTable::kMemset, batch.memsets);
  visit(EventTable::kMemoryOperation, batch.memory_operations);
  visit(EventTable::kApi, batch.apis);
  visit(EventTable::kSync, batch.syncs);
  visit(EventTable::kNvtx, batch.nvtx);
  visit(EventTable::kCollective, batch.collectives);
  visit(EventTable::kCollectivePlan, batch.collective_plans);
  visit(EventTable::kGemm, batch.gemms);
  visit(EventTable::kAttention, batch.attentions);
  visit(EventTable::kDataWait, batch.data_waits);
  visit(EventTable::kStepMark, batch.step_marks);
  visit(EventTable::kHostSpan, batch.host_spans);
  visit(EventTable::kDeviceSample, batch.device_samples);
  visit(EventTable::kDeviceSlowSample, batch.device_slow_samples);
  visit(EventTable::kCounterSample, batch.counter_samples);
  visit(EventTable::kAllocatorSample, batch.allocator_samples);
  visit(EventTable::kHostSample, batch.host_samples);
  visit(EventTable::kWorkerSample, batch.worker_samples);
  visit(EventTable::kStackSample, batch.stack_samples);
  visit(EventTable::kClockPair, batch.clock_pairs);
  visit(EventTable::kCaptureGap, batch.gaps);
}

// Of the tables whose rows are counted.
std::size_t EventRows(const Batch& batch);
// Rows that later events may refer to, of the tables that grow.
std::size_t DictionaryRows(const Batch& batch);

using CounterValues = std::array<std::int64_t, static_cast<std::size_t>(Health::kCount)>;
// The events, at the counters of those that are stored.
CounterValues RowsToStore(const Batch& batch);

// The batch was written.
void CountStored(const Batch& batch);
// Drops and counts all but the dictionary rows, with the memory that they took. The counters
// themselves will be told anew.
void DropEvents(Batch* batch);

}  // namespace traceinject
