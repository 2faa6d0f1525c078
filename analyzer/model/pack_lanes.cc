// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/pack_lanes.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace traceinject {
namespace {

constexpr TimeNs kBeforeAll = std::numeric_limits<TimeNs>::min();

// Where an event lies and whose it is.
struct Piece {
  TimeNs start = 0, end = 0;
  std::uint32_t source = 0;
  Ink ink = Ink::kCallOther;
};

Piece PieceOf(const LaneEvents& events, std::size_t event) {
  return {events.start(event), events.end(event), events.source(event), events.ink(event)};
}

// The events of one category, each cut down to what no earlier one covers. Next() gives them by
// time; false at the end.
class WithoutOverlap {
 public:
  WithoutOverlap(const LaneEvents& events, Category category)
      : events_(events), category_(category) {}

  bool Next(Piece& piece) {
    for (; event_ < events_.size(); ++event_) {
      if (CategoryOf(events_.ink(event_)) != category_) continue;
      piece = PieceOf(events_, event_);
      piece.start = std::max(piece.start, covered_);
      if (piece.end <= piece.start) continue;
      covered_ = piece.end;
      ++event_;
      return true;
    }
    return false;
  }

 private:
  const LaneEvents& events_;
  Category category_;
  std::size_t event_ = 0;
  TimeNs covered_ = kBeforeAll;
};

// `Upper`, and of `Lower` what lies beside it. Neither overlaps within itself.
template <typename Upper, typename Lower>
class Overlay {
 public:
  Overlay(Upper upper, Lower lower) : upper_(std::move(upper)), lower_(std::move(lower)) {
    has_upper_ = upper_.Next(next_upper_);
    has_lower_ = lower_.Next(next_lower_);
  }

  bool Next(Piece& piece) {
    while (has_lower_ && next_lower_.end <= next_lower_.start)
      has_lower_ = lower_.Next(next_lower_);
    if (has_upper_ && (!has_lower_ || next_upper_.start <= next_lower_.start)) {
      piece = next_upper_;
      has_upper_ = upper_.Next(next_upper_);
      CutLowerBefore(piece.end);
      return true;
    }
    if (!has_lower_) return false;
    piece = next_lower_;
    if (has_upper_) piece.end = std::min(piece.end, next_upper_.start);
    CutLowerBefore(piece.end);
    return true;
  }

 private:
  // What of the lower layer lies before `end` is dealt with.
  void CutLowerBefore(TimeNs end) {
    while (has_lower_ && next_lower_.end <= end) has_lower_ = lower_.Next(next_lower_);
    if (has_lower_) next_lower_.start = std::max(next_lower_.start, end);
  }

  Upper upper_;
  Lower lower_;
  Piece next_upper_, next_lower_;
  bool has_upper_ = false, has_lower_ = false;
};

// The events of one lane.
class LanePieces {
 public:
  explicit LanePieces(const LaneEvents& events) : events_(events) {}

  bool Next(Piece& piece) {
    if (event_ == events_.size()) return false;
    piece = PieceOf(events_, event_++);
    return true;
  }

 private:
  const LaneEvents& events_;
  std::size_t event_ = 0;
};

// The union of all lanes but the first; `source` is kNone.
class LowerLanes {
 public:
  explicit LowerLanes(const PackedLanes& packed) : lanes_(packed.lanes) {
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) Push({0, lane, 0});
  }

  bool Next(Piece& piece) {
    if (next_.empty()) return false;
    piece = {next_.top().start, next_.top().start, kNone, Ink::kCallOther};
    while (!next_.empty() && next_.top().start <= piece.end) {
      const Head head = next_.top();
      next_.pop();
      piece.end = std::max(piece.end, lanes_[head.lane].end(head.event));
      Push({0, head.lane, head.event + 1});
    }
    return true;
  }

 private:
  struct Head {
    TimeNs start = 0;
    std::size_t lane = 0, event = 0;
    bool operator<(const Head& other) const { return start > other.start; }  // the earliest on top
  };

  void Push(Head head) {
    if (head.event == lanes_[head.lane].size()) return;
    head.start = lanes_[head.lane].start(head.event);
    next_.push(head);
  }

  const std::vector<LaneEvents>& lanes_;
  std::priority_queue<Head> next_;
};

}  // namespace

void LanePacker::Add(TimeNs start_ns, TimeNs end_ns, std::uint32_t source_row, Ink ink) {
  if (!waiting_.empty() && waiting_.front().start != start_ns) PlaceWaiting();
  waiting_.push_back({start_ns, end_ns, source_row, ink});
}

void LanePacker::PlaceWaiting() {
  if (waiting_.size() > 1) {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Event& a, const Event& b) { return a.end > b.end; });
  }
  for (const Event& event : waiting_) Place(event);
  waiting_.clear();
}

void LanePacker::Place(const Event& event) {
  const auto free = std::find_if(free_from_.begin(), free_from_.end(),
                                 [&](TimeNs from) { return from <= event.start; });
  const auto lane = static_cast<std::size_t>(free - free_from_.begin());
  if (lane == kMaxLanes) {
    ++packed_.hidden;
    return;
  }
  if (lane == free_from_.size()) {
    free_from_.push_back(kBeforeAll);
    packed_.lanes.emplace_back();
  }
  packed_.lanes[lane].Add(event.start, event.end, event.source, event.ink);
  free_from_[lane] = std::max(event.end, event.start + 1);
}

PackedLanes LanePacker::Take() {
  PlaceWaiting();
  return std::move(packed_);
}

LaneEvents BesideFirst(const PackedLanes& packed) {
  LaneEvents beside;
  if (packed.lanes.size() < 2) return beside;
  Overlay pieces(LanePieces(packed.lanes.front()), LowerLanes(packed));
  for (Piece piece; pieces.Next(piece);) {
    if (piece.source == kNone) beside.Add(piece.start, piece.end, 0, Ink::kCallOther);
  }
  return beside;
}

LaneEvents FlattenByCategory(const LaneEvents& events) {
  Overlay pieces(Overlay(WithoutOverlap(events, Category::kCompute),
                         WithoutOverlap(events, Category::kCommunication)),
                 WithoutOverlap(events, Category::kCopy));
  LaneEvents flat;
  for (Piece piece; pieces.Next(piece);) {
    flat.Add(piece.start, piece.end, piece.source, piece.ink);
  }
  return flat;
}

}  // namespace traceinject
