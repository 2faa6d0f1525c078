// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/timeline/timeline_blocks.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace traceinject {
namespace {

class BlockFinder {
 public:
  BlockFinder(std::vector<TimelineTransfer>& transfers, std::vector<TimeNs>& blocked)
      : transfers_(transfers), blocked_(blocked) {}

  // Gaps come in order.
  void AddGap(Interval gap) {
    std::erase_if(open_, [&](std::size_t i) { return transfers_[i].time.end <= gap.start; });
    for (; next_ < transfers_.size() && transfers_[next_].time.start < gap.end; ++next_) {
      if (transfers_[next_].time.end > gap.start) open_.push_back(next_);
    }
    TimeNs until = gap.end;
    while (until > gap.start) {
      const std::size_t last = LastToEnd({gap.start, until});
      if (last == transfers_.size()) return;
      Interval& time = transfers_[last].time;
      if (until == gap.end) time.end = std::min(time.end, until);
      const TimeNs start = std::max(time.start, gap.start);
      blocked_[last] = time.end - start;
      until = start;
    }
  }

 private:
  // Of those that end in the gap, or a little later.
  std::size_t LastToEnd(Interval gap) const {
    std::size_t last = transfers_.size();
    const auto rank = [&](std::size_t i) {
      return std::pair(!transfers_[i].is_send, transfers_[i].time.end);
    };
    for (const std::size_t i : open_) {
      const Interval& time = transfers_[i].time;
      if (time.start >= gap.end || time.end <= gap.start || time.end - gap.end > kLateEndNs)
        continue;
      if (last == transfers_.size() || rank(i) > rank(last)) last = i;
    }
    return last;
  }

  std::vector<TimelineTransfer>& transfers_;
  std::vector<TimeNs>& blocked_;
  std::vector<std::size_t> open_;  // that have not ended before the gap
  std::size_t next_ = 0;
};

}  // namespace

std::vector<TimeNs> FindBlocked(const Intervals& busy, TimeNs end,
                                std::vector<TimelineTransfer>& transfers) {
  std::vector<TimeNs> blocked(transfers.size());
  BlockFinder finder(transfers, blocked);
  TimeNs from = std::numeric_limits<TimeNs>::min() / 2;
  for (const Interval& work : busy) {
    finder.AddGap({from, work.start});
    from = work.end;
  }
  finder.AddGap({from, end});
  return blocked;
}

}  // namespace traceinject
