// SPDX-License-Identifier: Apache-2.0
#include "injector/store/slices.h"

#include <algorithm>

namespace traceinject {
namespace {

// What an event row takes of the file, at most on average.
constexpr std::int64_t kEstimatedRowBytes = 48;

// What is kept is cut into so many slices: when one goes, so much of what is kept goes at once.
constexpr std::int64_t kSlices = 20;
// Where nothing asks for shorter ones: so that a crash finds few seconds in the open slice, and
// that dropping one is a bounded piece of work.
constexpr std::int64_t kLongestSliceNs = 60'000'000'000;
constexpr std::int64_t kLargestSliceBytes = 16 << 20;
// Of the room, for the log and for a transaction each. The log grows to the first before it is
// copied back, and then by up to the second.
constexpr std::int64_t kShareOfRoom = 64;
constexpr std::int64_t kMaxLogBytes = 16 << 20, kMaxTransactionBytes = 24 << 20;

}  // namespace

std::int64_t EstimatedBytes(const Batch& batch) {
  constexpr std::int64_t kDictionaryRowBytes = 64;
  std::int64_t rows = 0, bytes = 0;
  const auto count = [&](const auto&... tables) {
    ((rows += static_cast<std::int64_t>(tables.size())), ...);
  };
  count(batch.kernels, batch.memcpys, batch.memsets, batch.memory_operations, batch.apis,
        batch.syncs, batch.nvtx, batch.collectives, batch.collective_plans, batch.gemms,
        batch.attentions, batch.data_waits, batch.step_marks, batch.host_spans,
        batch.device_samples, batch.device_slow_samples, batch.counter_samples,
        batch.allocator_samples, batch.host_samples, batch.worker_samples, batch.stack_samples,
        batch.clock_pairs, batch.gaps);
  bytes = rows * kEstimatedRowBytes;
  rows = 0;
  count(batch.strings, batch.threads, batch.streams, batch.shapes, batch.graph_nodes,
        batch.gemm_shapes, batch.attention_shapes, batch.communicators, batch.nccl_setups,
        batch.nccl_links, batch.facts, batch.workers, batch.code_places, batch.stacks);
  bytes += rows * kDictionaryRowBytes;
  for (const StringRow& row : batch.strings) bytes += static_cast<std::int64_t>(row.text.size());
  for (const NvtxRow& row : batch.nvtx) bytes += static_cast<std::int64_t>(row.payload_blob.size());
  for (const CounterSampleRow& row : batch.counter_samples)
    bytes += static_cast<std::int64_t>(row.data.size());
  return bytes;
}

KeepLastRoom::KeepLastRoom(const KeepLast& keep)
    : log_bytes(std::min(keep.most_bytes / kShareOfRoom, kMaxLogBytes)),
      transaction_bytes(std::min(keep.most_bytes / kShareOfRoom, kMaxTransactionBytes)),
      database_bytes(keep.most_bytes - log_bytes - transaction_bytes) {}

std::size_t RowsOfBytes(std::int64_t bytes) {
  return static_cast<std::size_t>(bytes / kEstimatedRowBytes);
}

Slices::Slices(const KeepLast& keep, std::int64_t database_bytes)
    : kept_ns_(keep.kept_ns),
      slice_bytes_(std::min(database_bytes / kSlices, kLargestSliceBytes)),
      slice_ns_(keep.kept_ns == 0 ? kLongestSliceNs
                                  : std::min(keep.kept_ns / kSlices, kLongestSliceNs)) {}

void Slices::Add(std::int64_t bytes, const RowBounds& bounds, std::uint32_t flush, Moment now) {
  if (open_bytes_ == 0) opened_ns_ = now.monotonic_ns;
  open_bytes_ += std::max<std::int64_t>(bytes, 1);
  if (open_bytes_ < slice_bytes_ && now.monotonic_ns - opened_ns_ < slice_ns_) return;
  closed_.push_back({now, bounds, flush});
  open_bytes_ = 0;
}

bool Slices::TooOld(const Slice& slice, std::int64_t monotonic_ns) const {
  return kept_ns_ != 0 && monotonic_ns - slice.end.monotonic_ns > kept_ns_;
}

void Slices::Drop(std::size_t count) {
  closed_.erase(closed_.begin(), closed_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace traceinject
