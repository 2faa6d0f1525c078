// SPDX-License-Identifier: Apache-2.0
// When threads were in calls: the union over the threads, one after the other. There are nearly as
// many as calls, and whoever goes through them needs few at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

class MergedCalls {
 public:
  // Of the threads in the set. Both must outlive this.
  MergedCalls(const ApiCalls& api, const std::vector<bool>& threads)
      : api_(api), threads_(threads) {}

  // Leaves behind what ends by then. Moments come in order. O(1) amortised.
  void PassUntil(TimeNs time) {
    for (; passed_ < ahead_.size(); ++passed_) {
      if (ahead_[passed_].end > time) return;
      ended_ = ahead_[passed_].end;
    }
    ahead_.clear();
    passed_ = 0;
    ReadUntil(time);
  }
  // What lies ahead, counted from 0; null: no more.
  const Interval* At(std::size_t index) {
    while (passed_ + index >= ahead_.size() && ReadUntil(kEarliest)) {
    }
    return passed_ + index < ahead_.size() ? &ahead_[passed_ + index] : nullptr;
  }
  // When the one before that ended; the earliest time: there is none.
  TimeNs EndBefore(std::size_t index) const {
    return index > 0 ? ahead_[passed_ + index - 1].end : ended_;
  }

 private:
  static constexpr TimeNs kEarliest = std::numeric_limits<TimeNs>::min();

  // A call that has not ended, or takes no time, is none.
  bool Counts(std::uint32_t call) const {
    const std::uint32_t thread = api_.thread[call];
    return thread < threads_.size() && threads_[thread] && api_.end[call] != kOpen &&
           api_.end[call] > api_.start[call];
  }
  // Puts the next one that ends after that ahead; those before it are passed. False: there is none.
  bool ReadUntil(TimeNs time) {
    const auto calls = static_cast<std::uint32_t>(api_.size());
    std::uint32_t call = call_;
    Interval next;
    bool found = false;
    for (; call < calls; ++call) {
      if (!Counts(call)) continue;
      const Interval one{api_.start[call], api_.end[call]};
      if (found && one.start <= next.end) {
        next.end = std::max(next.end, one.end);
        continue;
      }
      if (found && next.end > time) break;
      if (found) ended_ = next.end;
      next = one;
      found = true;
    }
    call_ = call;
    const bool lies_ahead = found && next.end > time;
    if (lies_ahead) {
      ahead_.push_back(next);
    } else if (found) {
      ended_ = next.end;
    }
    return lies_ahead;
  }

  const ApiCalls& api_;
  const std::vector<bool>& threads_;
  std::vector<Interval> ahead_;  // read, and not all passed
  std::size_t passed_ = 0;       // of these
  TimeNs ended_ = kEarliest;
  std::uint32_t call_ = 0;  // the next to be read
};

}  // namespace traceinject
