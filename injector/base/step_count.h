// SPDX-License-Identifier: Apache-2.0
// How many steps of training have ended: what recording windows are counted by, also while nothing
// is recorded. A step is one of the optimizer that ended one first.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/base/ring.h"

namespace traceinject {

class StepCount {
 public:
  // On the program's thread. Wakes the writer at the number that it waits for.
  void StepEnded(std::int64_t optimizer) {
    std::int64_t first = 0;
    if (!optimizer_.compare_exchange_strong(first, optimizer, std::memory_order_relaxed) &&
        first != optimizer)
      return;
    const std::int64_t ended = ended_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (ended == wake_at_.load(std::memory_order_relaxed)) g_wake.Post();
  }

  std::int64_t ended() const { return ended_.load(std::memory_order_relaxed); }
  void WakeAt(std::int64_t ended) { wake_at_.store(ended, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> optimizer_{0};  // from 1
  std::atomic<std::int64_t> ended_{0};
  std::atomic<std::int64_t> wake_at_{-1};
};

inline constinit StepCount g_step_count;

}  // namespace traceinject
