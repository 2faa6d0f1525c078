// SPDX-License-Identifier: Apache-2.0
// A merged list of intervals (intervals.h) in as few bytes as PackedColumn takes: for lists as long
// as the recording itself.
#pragma once

#include <algorithm>
#include <cstddef>

#include "analyzer/model/intervals.h"
#include "analyzer/model/packed_column.h"

namespace traceinject {

class PackedIntervals {
 public:
  std::size_t size() const { return start_.size() + (has_last_ ? 1 : 0); }
  // O(1).
  Interval operator[](std::size_t index) const {
    if (index == start_.size()) return last_;
    const TimeNs start = start_[index];
    return {start, start + length_[index]};
  }

  // The union with an interval that starts no earlier than the last member does; without effect if
  // that is empty. O(1) amortised.
  void Append(Interval next) {
    if (next.end <= next.start) return;
    if (has_last_ && next.start <= last_.end) {
      last_.end = std::max(last_.end, next.end);
      return;
    }
    if (has_last_) {
      start_.push_back(last_.start);
      length_.push_back(last_.end - last_.start);
    }
    last_ = next;
    has_last_ = true;
  }

 private:
  PackedColumn<TimeNs> start_, length_;  // of all members but the last, which may still grow
  Interval last_;
  bool has_last_ = false;
};

}  // namespace traceinject
