// SPDX-License-Identifier: Apache-2.0
// The health counters of this process, one atomic each, listed in schemas/health_counters.h.
#pragma once

#include <atomic>
#include <cstdint>

#include "schemas/health_counters.h"

namespace traceinject {

class Counters {
 public:
  void Add(Health id, std::int64_t n = 1) { Cell(id).fetch_add(n, std::memory_order_relaxed); }
  // Of an event that a producer could not hand over. Those that it hands over the writer counts:
  // a locked addition waits until all stores before it are done, a launch's to the GPU among them.
  void AddLost(Health seen, Health dropped) {
    Add(seen);
    Add(dropped);
  }
  void Set(Health id, std::int64_t n) { Cell(id).store(n, std::memory_order_relaxed); }
  void Max(Health id, std::int64_t n) {
    std::atomic<std::int64_t>& cell = Cell(id);
    std::int64_t seen = cell.load(std::memory_order_relaxed);
    while (seen < n && !cell.compare_exchange_weak(seen, n, std::memory_order_relaxed)) {
    }
  }
  std::int64_t Get(Health id) const {
    return cells_[static_cast<std::size_t>(id)].load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t>& Cell(Health id) { return cells_[static_cast<std::size_t>(id)]; }
  std::atomic<std::int64_t> cells_[static_cast<std::size_t>(Health::kCount)] = {};
};

// One set a process. Constant-initialized, so that any thread may count at any time, also before
// constructors ran.
inline constinit Counters g_counters;

}  // namespace traceinject
