// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/memory_calls.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace traceinject {
namespace {

// From CUpti_ActivityMemoryKind, cupti_activity.h.
constexpr std::uint8_t kPinnedMemory = 2, kDeviceMemory = 3, kManagedMemory = 5;

// Device memory in use, by what was seen of it.
class Held {
 public:
  void Allocate(std::uint64_t address, std::int64_t bytes) {
    // An address that comes again without a release between: that one was missed.
    Release(address);
    blocks_[address] = bytes;
    bytes_ += bytes;
  }
  void Release(std::uint64_t address) {
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;  // allocated before recording began
    bytes_ -= found->second;
    blocks_.erase(found);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::unordered_map<std::uint64_t, std::int64_t> blocks_;
  std::int64_t bytes_ = 0;
};

TimeNs TimeInCalls(const Rank& rank, const std::unordered_set<std::uint64_t>& correlations) {
  TimeNs total = 0;
  if (correlations.empty()) return total;
  for (std::size_t call = 0; call < rank.api.size(); ++call) {
    if (rank.api.end[call] != kOpen && correlations.contains(rank.api.correlation[call]))
      total += rank.api.end[call] - rank.api.start[call];
  }
  return total;
}

}  // namespace

MemoryCalls CountMemoryCalls(const Rank& rank, int ordinal, const Intervals& windows) {
  const MemoryOperations& memory = rank.memory;
  MemoryCalls found;
  Held held;
  std::unordered_set<std::uint64_t> correlations;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory.device[i] != ordinal || memory.time[i] >= windows.back().end) continue;
    const bool inside = Contains(windows, memory.time[i]);
    const bool on_device =
        memory.memory_kind[i] == kDeviceMemory || memory.memory_kind[i] == kManagedMemory;
    if (!on_device && memory.memory_kind[i] != kPinnedMemory) continue;
    // What was held when the window began counts, too.
    if (on_device && inside) found.peak_bytes = std::max(found.peak_bytes, held.bytes());
    if (on_device && memory.release[i]) held.Release(memory.address[i]);
    if (on_device && !memory.release[i]) held.Allocate(memory.address[i], memory.bytes[i]);
    if (!inside) continue;
    correlations.insert(memory.correlation[i]);
    if (on_device) found.peak_bytes = std::max(found.peak_bytes, held.bytes());
    std::int64_t& calls = memory.release[i]
                              ? (on_device ? found.releases : found.host_releases)
                              : (on_device ? found.allocations : found.host_allocations);
    ++calls;
    if (!memory.release[i])
      (on_device ? found.allocated_bytes : found.host_bytes) += memory.bytes[i];
  }
  // Without an operation in the window, what was held before it.
  found.peak_bytes = std::max(found.peak_bytes, held.bytes());
  found.call_ns = TimeInCalls(rank, correlations);
  return found;
}

MemoryCalls MergeMemoryCalls(const std::vector<MemoryCalls>& parts) {
  MemoryCalls sum;
  for (const MemoryCalls& part : parts) {
    sum.allocations += part.allocations;
    sum.releases += part.releases;
    sum.allocated_bytes += part.allocated_bytes;
    sum.peak_bytes = std::max(sum.peak_bytes, part.peak_bytes);
    sum.host_allocations += part.host_allocations;
    sum.host_releases += part.host_releases;
    sum.host_bytes += part.host_bytes;
    sum.call_ns += part.call_ns;
  }
  return sum;
}

}  // namespace traceinject
