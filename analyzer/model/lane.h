// SPDX-License-Identifier: Apache-2.0
// Events that do not overlap, and what of them to draw at any zoom.
//
// Units and convention: int64 nanoseconds, half-open [start, end). Times are divided into cells of
// a power-of-two width that start at the lane's first event; cells do not move when the view does,
// so nothing flickers while panning.
//
// Level of detail: a pyramid holds one summary per cell (share of busy time, the event that takes
// most of it, number of events), each level from the one below. The finest cells are the narrowest
// of which there are at most one per 16 events; what is drawn finer than that is summed up from
// the events themselves, blocks of 64 at a time. Memory: about 3 bytes per event beside the event's
// own 5 to 8.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/model/ink.h"
#include "analyzer/model/packed_column.h"

namespace traceinject {

// Events by start, packed. An event must not start before the one before it ends; one without
// length counts as 1 ns long here, so that nothing can lie on top of it.
class LaneEvents {
 public:
  void Add(TimeNs start_ns, TimeNs end_ns, std::uint32_t source_row, Ink ink_of_event) {
    start_.push_back(start_ns);
    length_.push_back(end_ns - start_ns);
    source_.push_back(source_row);
    ink_.push_back(ink_of_event);
  }

  std::size_t size() const { return start_.size(); }
  TimeNs start(std::size_t event) const { return start_[event]; }
  TimeNs end(std::size_t event) const { return start_[event] + length_[event]; }
  TimeNs length(std::size_t event) const { return length_[event]; }
  std::uint32_t source(std::size_t event) const { return source_[event]; }  // row in the model
  Ink ink(std::size_t event) const { return ink_[event]; }
  // Some columns of 64 events that stand together.
  struct Block {
    std::array<TimeNs, PackedColumn<TimeNs>::kBlock> start, length;
    std::array<Ink, PackedColumn<Ink>::kBlock> ink;
  };
  // Of the block that begins at `first`, a multiple of 64. Beyond the last event: anything.
  void UnpackBlock(std::size_t first, Block& block) const {
    start_.UnpackBlock(first, block.start);
    length_.UnpackBlock(first, block.length);
    ink_.UnpackBlock(first, block.ink);
  }
  void shrink_to_fit() {
    start_.shrink_to_fit();
    length_.shrink_to_fit();
    source_.shrink_to_fit();
    ink_.shrink_to_fit();
  }
  std::size_t memory_bytes() const {
    return start_.memory_bytes() + length_.memory_bytes() + source_.memory_bytes() +
           ink_.memory_bytes();
  }

 private:
  PackedColumn<TimeNs> start_, length_;
  PackedColumn<std::uint32_t> source_;
  PackedColumn<Ink> ink_;
};

// What happened in a stretch of time.
struct LaneSummary {
  std::uint32_t event = kNone;  // the one with the longest time inside, the first of equals
  std::uint32_t count = 0;      // events that start inside; saturates at 65535 when from a cell
  float busy = 0;               // share of the stretch, 0..1; at least 1/65535 if not idle
  std::array<float, kCategories> mix = {};  // busy by category, shares of the stretch

  bool empty() const { return event == kNone; }
};

// One thing to draw.
struct LaneSpan {
  TimeNs start = 0, end = 0;
  bool exact = false;  // an event as it is; else the summary of a cell or of a part of one
  LaneSummary summary;
};

class Lane {
 public:
  Lane() = default;
  // O(n).
  explicit Lane(LaneEvents events);

  std::size_t size() const { return events_.size(); }
  TimeNs start(std::size_t event) const { return events_.start(event); }
  TimeNs end(std::size_t event) const { return events_.end(event); }
  std::uint32_t source(std::size_t event) const { return events_.source(event); }
  Ink ink(std::size_t event) const { return events_.ink(event); }
  // Those of its events.
  const InkSet& inks() const { return inks_; }

  // Busy time inside [start_ns, end_ns). O(log n).
  TimeNs Busy(TimeNs start_ns, TimeNs end_ns) const;
  // Events that start inside. O(log n).
  std::size_t Count(TimeNs start_ns, TimeNs end_ns) const;
  // Exact, from the events. O(log n + events inside / 64).
  LaneSummary Summarize(TimeNs start_ns, TimeNs end_ns) const;
  // First event that ends after `time_ns` or starts at or after it; size() if there is none. O(log
  // n).
  std::size_t FirstEndingAfter(TimeNs time_ns) const;

  // What to draw of [start_ns, end_ns), by time: events of at least two cells as they are, all
  // others as one summary a cell. A cell is the smallest power of two that is no shorter than a
  // pixel. No event is left out, however short. O(pixels) where cells come from the pyramid, else
  // O(pixels x log n + events / 64). Replaces `spans`.
  void Query(TimeNs start_ns, TimeNs end_ns, double ns_per_px, std::vector<LaneSpan>& spans) const;

  std::size_t memory_bytes() const;

 private:
  struct Cell {
    std::uint32_t event = kNone;
    std::uint16_t busy = 0;  // of 65535, rounded up: 0 only if idle
    std::uint16_t count = 0;
    std::array<std::uint16_t, kCategories> mix = {};
  };
  struct Level {
    int shift = 0;  // width of a cell is 1 << shift
    std::vector<Cell> cells;
  };
  // 64 events.
  struct Block {
    TimeNs busy_before = 0;  // sum of all blocks before
    std::array<TimeNs, kCategories> mix_before = {};
    std::uint32_t longest = 0;
  };
  struct CellSum;
  class PyramidBuilder;
  class Walker;

  void BuildBlocks();
  void BuildPyramid();
  void SumFinestCells(PyramidBuilder& builder) const;
  static CellSum Join(const CellSum& left, const CellSum& right);
  static Cell Quantized(int shift, const CellSum& sum);
  // How many cells of a width there are.
  std::size_t CellsOf(int shift) const;

  TimeNs Duration(std::size_t event) const { return events_.length(event); }
  TimeNs LastTime() const;
  // First event in [low, high) that starts at or after a time; high if there is none.
  std::size_t FirstStartingAt(TimeNs time_ns, std::size_t low, std::size_t high) const;
  std::size_t NextStartingAt(TimeNs time_ns, std::size_t from) const;
  LaneSummary SummarizeRange(std::size_t first, std::size_t last, TimeNs start_ns,
                             TimeNs end_ns) const;
  void QueryCells(const Level& level, TimeNs start_ns, TimeNs end_ns,
                  std::vector<LaneSpan>& spans) const;
  void QueryEvents(int shift, TimeNs start_ns, TimeNs end_ns, std::vector<LaneSpan>& spans) const;
  LaneSpan ExactSpan(std::size_t event) const;
  void AddPart(TimeNs start_ns, TimeNs end_ns, std::vector<LaneSpan>& spans) const;

  LaneEvents events_;
  InkSet inks_;
  TimeNs origin_ = 0;          // where cells begin: the first event's start
  std::vector<Block> blocks_;  // and one past the last, for the sums
  std::vector<Level> levels_;  // finest first
};

}  // namespace traceinject
