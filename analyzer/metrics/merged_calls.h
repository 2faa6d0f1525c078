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
    for (Interval next; Read(next); ended_ = next.end) {
      if (next.end > time) return ahead_.push_back(next);
    }
  }
  // What lies ahead, counted from 0; null: no more.
  const Interval* At(std::size_t index) {
    for (Interval next; passed_ + index >= ahead_.size() && Read(next);) ahead_.push_back(next);
    return passed_ + index < ahead_.size() ? &ahead_[passed_ + index] : nullptr;
  }
  // When the one before that ended; the earliest time: there is none.
  TimeNs EndBefore(std::size_t index) const {
    return index > 0 ? ahead_[passed_ + index - 1].end : ended_;
  }

 private:
  // A call that has not ended, or takes no time, is none.
  bool Counts(std::uint32_t call) const {
    const std::uint32_t thread = api_.thread[call];
    return thread < threads_.size() && threads_[thread] && api_.end[call] != kOpen &&
           api_.end[call] > api_.start[call];
  }
  bool Read(Interval& next) {
    const auto calls = static_cast<std::uint32_t>(api_.size());
    while (call_ < calls && !Counts(call_)) ++call_;
    if (call_ == calls) return false;
    next = {api_.start[call_], api_.end[call_]};
    for (++call_; call_ < calls && api_.start[call_] <= next.end; ++call_) {
      if (Counts(call_)) next.end = std::max(next.end, api_.end[call_]);
    }
    return true;
  }

  const ApiCalls& api_;
  const std::vector<bool>& threads_;
  std::vector<Interval> ahead_;  // read, and not all passed
  std::size_t passed_ = 0;       // of these
  TimeNs ended_ = std::numeric_limits<TimeNs>::min();
  std::uint32_t call_ = 0;  // the next to be read
};

}  // namespace traceinject
