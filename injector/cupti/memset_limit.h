// SPDX-License-Identifier: Apache-2.0
// Whether memsets are worth their records (TRACEINJECT_MEMSETS). To record one costs the GPU 1.9
// us, as long as a small one takes (a kernel 0.3, a copy 0.2; tests/gpu/cupti/cupti_gpu_time.cc): a
// step of 40 ms with 155 of them gets half a per cent longer. A program that goes on making many
// small ones has told what there is to tell after some seconds.
#pragma once

#include <cstdint>

namespace traceinject {

class MemsetLimit {
 public:
  static constexpr std::int64_t kRecordNs = 2'000;  // of the GPU's time
  static constexpr std::int64_t kSpanNs = 1'000'000'000;
  static constexpr int kSpans = 5;  // on end: one that begins or saves may make many, too

  struct Seen {
    std::int64_t count = 0, total_ns = 0;  // of all records so far
  };

  // Now and then, at `now_ns` (monotonic), with whether memsets are recorded now. True: they have
  // been too many and too short for kSpans spans.
  bool Look(std::int64_t now_ns, bool recorded, Seen so_far) {
    if (!recorded || !recorded_) {
      recorded_ = recorded;
      Begin(now_ns, so_far);
      return false;
    }
    const std::int64_t elapsed_ns = now_ns - since_ns_;
    if (elapsed_ns < kSpanNs) return false;
    const std::int64_t count = so_far.count - before_.count;
    spans_ = CostsTooMuch(count, so_far.total_ns - before_.total_ns, elapsed_ns) ? spans_ + 1 : 0;
    Begin(now_ns, so_far);
    return spans_ >= kSpans;
  }

 private:
  // More than a thousandth of the time, and no less than half of what is learned.
  static bool CostsTooMuch(std::int64_t count, std::int64_t total_ns, std::int64_t elapsed_ns) {
    const std::int64_t cost_ns = count * kRecordNs;
    return cost_ns > elapsed_ns / 1000 && total_ns < 2 * cost_ns;
  }
  void Begin(std::int64_t now_ns, Seen so_far) {
    since_ns_ = now_ns;
    before_ = so_far;
  }

  bool recorded_ = false;
  std::int64_t since_ns_ = 0;
  Seen before_;
  int spans_ = 0;
};

}  // namespace traceinject
