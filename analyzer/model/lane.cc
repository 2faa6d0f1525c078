// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/lane.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace traceinject {
namespace {

constexpr std::size_t kEventsPerCell = 16;
constexpr std::size_t kBlockEvents = 64;
constexpr int kMaxShift = 60;
constexpr double kShareSteps = 65535;

std::uint16_t RoundedUpShare(TimeNs part, TimeNs whole) {
  const double steps =
      std::ceil(static_cast<double>(part) / static_cast<double>(whole) * kShareSteps);
  return static_cast<std::uint16_t>(std::min(steps, kShareSteps));
}

float Share(TimeNs part, TimeNs whole) {
  return static_cast<float>(static_cast<double>(part) / static_cast<double>(whole));
}

int CellShift(double ns_per_px) {
  int shift = 0;
  while (shift < kMaxShift && static_cast<double>(TimeNs{1} << shift) < ns_per_px) ++shift;
  return shift;
}

}  // namespace

// A cell with what is needed to join two of them exactly: the only event that can lie in both is
// the last of the left and the first of the right one.
struct Lane::CellSum {
  struct Part {
    std::uint32_t event = kNone;
    TimeNs length = 0;
  };
  TimeNs busy = 0;
  std::array<TimeNs, kCategories> mix = {};
  std::size_t count = 0;
  Part first, last, longest;

  void Add(std::uint32_t event, TimeNs length, Category category, bool starts) {
    busy += length;
    if (category != Category::kHost) mix[static_cast<std::size_t>(category)] += length;
    count += starts ? 1 : 0;
    if (first.event == kNone) first = {event, length};
    last = {event, length};
    if (longest.event == kNone || length > longest.length) longest = {event, length};
  }
};

// Sums events up in their order, a stretch after the other.
class Lane::Walker {
 public:
  // Begins at an event.
  Walker(const Lane& lane, std::size_t event) : lane_(lane), event_(event) {}

  std::size_t event() const { return event_; }
  bool done() const { return event_ == lane_.size(); }
  TimeNs start() { return block().start[event_ % kBlockEvents]; }
  TimeNs length() { return block().length[event_ % kBlockEvents]; }
  void Skip() { ++event_; }

  // Of [from, to): until an event of at least `long_ns`, where it ends instead, or one that starts
  // behind it. Goes on with the next stretch at the last event if that reaches into it.
  LaneSpan Sum(TimeNs from, TimeNs to, TimeNs long_ns) {
    busy_ = 0;
    mix_ = {};
    longest_ = -1;
    LaneSpan span{from, to, false, {}};
    TimeNs last_end = from;
    while (!done()) {
      if (TakeBlock(from, span)) continue;
      const TimeNs event_start = start();
      if (event_start >= to) break;
      if (length() >= long_ns) {
        span.end = event_start;
        break;
      }
      last_end = event_start + length();
      const TimeNs inside = std::min(last_end, to) - std::max(event_start, from);
      Add(inside, block().ink[event_ % kBlockEvents]);
      Longest(event_, inside, span);
      span.summary.count += event_start >= from ? 1 : 0;
      ++event_;
    }
    if (last_end > span.end) --event_;
    const TimeNs width = span.end - from;
    span.summary.busy = Share(busy_, width);
    for (std::size_t i = 0; i < kCategories; ++i) span.summary.mix[i] = Share(mix_[i], width);
    return span;
  }

 private:
  const LaneEvents::Block& block() {
    if (event_ / kBlockEvents != unpacked_) {
      unpacked_ = event_ / kBlockEvents;
      lane_.events_.UnpackBlock(unpacked_ * kBlockEvents, block_);
    }
    return block_;
  }

  // 64 events at once, if they lie inside: the one after them starts before the end.
  bool TakeBlock(TimeNs from, LaneSpan& span) {
    const std::size_t next = event_ + kBlockEvents;
    if (event_ % kBlockEvents != 0 || next >= lane_.size()) return false;
    if (lane_.start(next) >= span.end || lane_.start(event_) < from) return false;
    const Block &first = lane_.blocks_[event_ / kBlockEvents],
                &after = lane_.blocks_[event_ / kBlockEvents + 1];
    busy_ += after.busy_before - first.busy_before;
    for (std::size_t i = 0; i < kCategories; ++i) {
      mix_[i] += after.mix_before[i] - first.mix_before[i];
    }
    Longest(first.longest, lane_.Duration(first.longest), span);
    span.summary.count += kBlockEvents;
    event_ = next;
    return true;
  }

  void Add(TimeNs length, Ink ink) {
    static const auto kCategoryOf = [] {
      std::array<std::uint8_t, 256> table;
      for (unsigned i = 0; i < table.size(); ++i) {
        table[i] = static_cast<std::uint8_t>(CategoryOf(static_cast<Ink>(i)));
      }
      return table;
    }();
    busy_ += length;
    mix_[kCategoryOf[static_cast<std::uint8_t>(ink)]] += length;
  }

  void Longest(std::size_t event, TimeNs length, LaneSpan& span) {
    if (length <= longest_) return;
    longest_ = length;
    span.summary.event = static_cast<std::uint32_t>(event);
  }

  const Lane& lane_;
  std::size_t event_, unpacked_ = std::numeric_limits<std::size_t>::max();
  LaneEvents::Block block_;
  TimeNs busy_ = 0, longest_ = -1;
  std::array<TimeNs, kCategories + 1> mix_ = {};  // and kHost, which is not shown
};

Lane::Lane(LaneEvents events) : events_(std::move(events)) {
  events_.shrink_to_fit();
  if (size() == 0) return;
  origin_ = start(0);
  BuildBlocks();
  BuildPyramid();
}

void Lane::BuildBlocks() {
  blocks_.reserve(size() / kBlockEvents + 2);
  Block next;
  for (std::size_t event = 0; event < size(); ++event) {
    if (event % kBlockEvents == 0) {
      next.longest = static_cast<std::uint32_t>(event);
      blocks_.push_back(next);
    }
    Block& block = blocks_.back();
    if (Duration(event) > Duration(block.longest)) {
      block.longest = static_cast<std::uint32_t>(event);
    }
    next.busy_before += Duration(event);
    inks_.set(static_cast<std::size_t>(ink(event)));
    const Category category = CategoryOf(ink(event));
    if (category != Category::kHost) {
      next.mix_before[static_cast<std::size_t>(category)] += Duration(event);
    }
  }
  blocks_.push_back(next);
}

// The last moment that belongs to a cell: the end of the lane, and the start of a last event
// without length.
TimeNs Lane::LastTime() const { return std::max(end(size() - 1) - 1, start(size() - 1)) - origin_; }

// Adds the finest cells in their order: two that belong together are joined as soon as the second
// is known, so that no level is needed but as it is kept.
class Lane::PyramidBuilder {
 public:
  explicit PyramidBuilder(std::vector<Level>& levels) : levels_(levels), waiting_(levels.size()) {}

  int shift() const { return levels_.front().shift; }
  void Add(const CellSum& cell) { AddTo(0, cell); }
  // The last cell of a level may have none beside it.
  void Finish() {
    for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
      if (levels_[level].cells.size() % 2 == 1) AddTo(level + 1, waiting_[level]);
    }
  }

 private:
  void AddTo(std::size_t level, CellSum cell) {
    while (true) {
      levels_[level].cells.push_back(Quantized(levels_[level].shift, cell));
      const bool is_second = levels_[level].cells.size() % 2 == 0;
      if (!is_second) {
        waiting_[level] = cell;
        return;
      }
      cell = Join(waiting_[level], cell);
      ++level;
    }
  }

  std::vector<Level>& levels_;
  std::vector<CellSum> waiting_;  // of each level the first of two
};

void Lane::BuildPyramid() {
  const std::size_t most_cells = size() / kEventsPerCell;
  if (most_cells == 0) return;
  int shift = 0;
  while (CellsOf(shift) > most_cells) ++shift;
  for (std::size_t cells = CellsOf(shift);; cells = (cells + 1) / 2) {
    levels_.push_back({shift++, {}});
    levels_.back().cells.reserve(cells);
    if (cells == 1) break;
  }
  PyramidBuilder builder(levels_);
  SumFinestCells(builder);
  builder.Finish();
}

std::size_t Lane::CellsOf(int shift) const {
  return static_cast<std::size_t>(LastTime() >> shift) + 1;
}

void Lane::SumFinestCells(PyramidBuilder& builder) const {
  const int shift = builder.shift();
  const TimeNs origin = origin_;
  CellSum sum;
  TimeNs summed = 0;  // the cell that it is of
  const auto go_to = [&](TimeNs cell) {
    for (; summed < cell; ++summed) builder.Add(std::exchange(sum, {}));
  };
  for (std::size_t event = 0; event < size(); ++event) {
    const TimeNs from = start(event) - origin, to = end(event) - origin;
    const TimeNs last_cell = std::max(to - 1, from) >> shift;
    for (TimeNs cell = from >> shift; cell <= last_cell; ++cell) {
      const TimeNs cell_start = cell << shift, cell_end = (cell + 1) << shift;
      go_to(cell);
      sum.Add(static_cast<std::uint32_t>(event),
              std::min(to, cell_end) - std::max(from, cell_start), CategoryOf(ink(event)),
              from >= cell_start);
    }
  }
  go_to(summed + 1);
}

Lane::CellSum Lane::Join(const CellSum& left, const CellSum& right) {
  if (left.first.event == kNone) return right;
  if (right.first.event == kNone) return left;
  CellSum sum = left;
  sum.busy += right.busy;
  for (std::size_t i = 0; i < kCategories; ++i) sum.mix[i] += right.mix[i];
  sum.count += right.count;
  sum.last = right.last;
  const auto prefer = [&sum](CellSum::Part part) {
    const bool longer = part.length > sum.longest.length;
    const bool earlier = part.length == sum.longest.length && part.event < sum.longest.event;
    if (longer || earlier) sum.longest = part;
  };
  if (left.last.event == right.first.event) {
    const TimeNs joined = left.last.length + right.first.length;
    prefer({left.last.event, joined});
    if (left.first.event == right.first.event) sum.first.length = joined;
    if (right.last.event == left.last.event) sum.last.length = joined;
  }
  prefer(right.longest);
  return sum;
}

Lane::Cell Lane::Quantized(int shift, const CellSum& sum) {
  const TimeNs width = TimeNs{1} << shift;
  Cell cell;
  cell.event = sum.longest.event;
  cell.busy = RoundedUpShare(sum.busy, width);
  cell.count = static_cast<std::uint16_t>(
      std::min<std::size_t>(sum.count, std::numeric_limits<std::uint16_t>::max()));
  for (std::size_t category = 0; category < kCategories; ++category)
    cell.mix[category] = RoundedUpShare(sum.mix[category], width);
  return cell;
}

std::size_t Lane::FirstEndingAfter(TimeNs time_ns) const {
  std::size_t low = 0, high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (end(middle) > time_ns || start(middle) >= time_ns) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::size_t Lane::FirstStartingAt(TimeNs time_ns, std::size_t low, std::size_t high) const {
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (start(middle) < time_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Gallops: what is looked for lies near `from` in most calls. O(log distance).
std::size_t Lane::NextStartingAt(TimeNs time_ns, std::size_t from) const {
  std::size_t step = 1, low = from;
  while (low + step < size() && start(low + step) < time_ns) {
    low += step;
    step *= 2;
  }
  return FirstStartingAt(time_ns, low, std::min(low + step + 1, size()));
}

TimeNs Lane::Busy(TimeNs start_ns, TimeNs end_ns) const {
  if (size() == 0 || end_ns <= start_ns) return 0;
  const auto before = [this](TimeNs time_ns) {
    const std::size_t event = FirstEndingAfter(time_ns);
    TimeNs busy = blocks_[event / kBlockEvents].busy_before;
    for (std::size_t i = event / kBlockEvents * kBlockEvents; i < event; ++i) busy += Duration(i);
    if (event < size()) busy += std::max<TimeNs>(time_ns - start(event), 0);
    return busy;
  };
  return before(end_ns) - before(start_ns);
}

std::size_t Lane::Count(TimeNs start_ns, TimeNs end_ns) const {
  if (end_ns <= start_ns) return 0;
  return FirstStartingAt(end_ns, 0, size()) - FirstStartingAt(start_ns, 0, size());
}

LaneSummary Lane::Summarize(TimeNs start_ns, TimeNs end_ns) const {
  const std::size_t first = FirstEndingAfter(start_ns);
  if (first == size()) return {};
  return SummarizeRange(first, NextStartingAt(end_ns, first), start_ns, end_ns);
}

// Events [first, last) are all that lie in or reach into the stretch.
LaneSummary Lane::SummarizeRange(std::size_t first, std::size_t last, TimeNs start_ns,
                                 TimeNs end_ns) const {
  if (first >= last) return {};
  CellSum sum;
  std::size_t event = first;
  const auto add_events = [&](std::size_t until) {
    for (; event < until; ++event) {
      sum.Add(static_cast<std::uint32_t>(event),
              std::min(end(event), end_ns) - std::max(start(event), start_ns),
              CategoryOf(ink(event)), start(event) >= start_ns);
    }
  };
  // Only the first and the last event can reach out of the stretch: the blocks between lie inside.
  const std::size_t first_block = first / kBlockEvents + 1, last_block = (last - 1) / kBlockEvents;
  if (first_block < last_block) {
    add_events(first_block * kBlockEvents);
    const Block &from = blocks_[first_block], &to = blocks_[last_block];
    sum.busy += to.busy_before - from.busy_before;
    for (std::size_t i = 0; i < kCategories; ++i)
      sum.mix[i] += to.mix_before[i] - from.mix_before[i];
    sum.count += (last_block - first_block) * kBlockEvents;
    for (std::size_t block = first_block; block < last_block; ++block) {
      const std::uint32_t longest = blocks_[block].longest;
      if (Duration(longest) > sum.longest.length) sum.longest = {longest, Duration(longest)};
    }
    event = last_block * kBlockEvents;
  }
  add_events(last);

  const TimeNs width = end_ns - start_ns;
  LaneSummary summary{
      sum.longest.event, static_cast<std::uint32_t>(sum.count), Share(sum.busy, width), {}};
  for (std::size_t i = 0; i < kCategories; ++i) summary.mix[i] = Share(sum.mix[i], width);
  return summary;
}

LaneSpan Lane::ExactSpan(std::size_t event) const {
  LaneSpan span{start(event), end(event), true, {}};
  span.summary.event = static_cast<std::uint32_t>(event);
  span.summary.count = 1;
  span.summary.busy = 1;
  const Category category = CategoryOf(ink(event));
  if (category != Category::kHost) span.summary.mix[static_cast<std::size_t>(category)] = 1;
  return span;
}

void Lane::AddPart(TimeNs start_ns, TimeNs end_ns, std::vector<LaneSpan>& spans) const {
  if (end_ns <= start_ns) return;
  const LaneSummary summary = Summarize(start_ns, end_ns);
  if (!summary.empty()) spans.push_back({start_ns, end_ns, false, summary});
}

void Lane::Query(TimeNs start_ns, TimeNs end_ns, double ns_per_px,
                 std::vector<LaneSpan>& spans) const {
  spans.clear();
  if (size() == 0 || end_ns <= start_ns) return;
  const int shift = CellShift(ns_per_px);
  if (levels_.empty() || shift < levels_.front().shift) {
    QueryEvents(shift, start_ns, end_ns, spans);
    return;
  }
  const auto level = static_cast<std::size_t>(shift - levels_.front().shift);
  QueryCells(levels_[std::min(level, levels_.size() - 1)], start_ns, end_ns, spans);
}

// An event of two cells or more covers one of them wholly and is that cell's longest: that is how
// it is found. One cell more on either side, so that this holds at the edges of the view too.
void Lane::QueryCells(const Level& level, TimeNs start_ns, TimeNs end_ns,
                      std::vector<LaneSpan>& spans) const {
  const TimeNs origin = origin_, width = TimeNs{1} << level.shift;
  if (end_ns <= origin) return;
  const auto last_index = static_cast<TimeNs>(level.cells.size()) - 1;
  const TimeNs last = std::min(((end_ns - 1 - origin) >> level.shift) + 1, last_index);
  TimeNs covered = std::numeric_limits<TimeNs>::min();  // end of the last event drawn as it is
  TimeNs index = std::max<TimeNs>((std::max(start_ns, origin) - origin) >> level.shift, 1) - 1;
  for (; index <= last; ++index) {
    const Cell& cell = level.cells[static_cast<std::size_t>(index)];
    if (cell.event == kNone) continue;
    const TimeNs from = origin + index * width, to = from + width;
    if (Duration(cell.event) >= 2 * width && end(cell.event) > covered) {
      const TimeNs event_start = start(cell.event);
      if (!spans.empty() && !spans.back().exact && spans.back().end > event_start) {
        const TimeNs part_start = spans.back().start;
        spans.pop_back();
        AddPart(part_start, event_start, spans);
      }
      AddPart(std::max(from, covered), event_start, spans);
      spans.push_back(ExactSpan(cell.event));
      covered = end(cell.event);
      const TimeNs ends_in = (covered - origin) >> level.shift;
      if (ends_in > index) {
        index = ends_in - 1;
        continue;
      }
    }
    if (covered > from) {
      AddPart(covered, to, spans);
      continue;
    }
    const auto share = [](std::uint16_t steps) { return static_cast<float>(steps / kShareSteps); };
    LaneSpan span{from, to, false, {cell.event, cell.count, share(cell.busy), {}}};
    for (std::size_t i = 0; i < kCategories; ++i) span.summary.mix[i] = share(cell.mix[i]);
    spans.push_back(span);
  }
}

// The same rule as QueryCells, for cells that no level holds.
void Lane::QueryEvents(int shift, TimeNs start_ns, TimeNs end_ns,
                       std::vector<LaneSpan>& spans) const {
  const TimeNs origin = origin_, width = TimeNs{1} << shift;
  const auto cell_start = [&](TimeNs time_ns) {
    return origin + (((time_ns - origin) >> shift) << shift);
  };
  if (end_ns <= origin) return;
  // Whole cells: what a cell shows must not depend on how much of it is in view.
  const TimeNs end_cell = cell_start(end_ns - 1) + width;
  TimeNs done = cell_start(std::max(start_ns, origin)) - width, covered = done;
  Walker walker(*this, FirstEndingAfter(done));
  while (!walker.done() && std::max(walker.start(), done) < end_cell) {
    if (walker.length() >= 2 * width) {
      spans.push_back(ExactSpan(walker.event()));
      covered = spans.back().end;
      walker.Skip();
      continue;
    }
    const TimeNs cell = cell_start(std::max(walker.start(), done));
    spans.push_back(walker.Sum(std::max(cell, covered), cell + width, 2 * width));
    done = spans.back().end;
  }
}

std::size_t Lane::memory_bytes() const {
  std::size_t bytes = events_.memory_bytes() + blocks_.size() * sizeof(Block);
  for (const Level& level : levels_) bytes += level.cells.size() * sizeof(Cell);
  return bytes;
}

}  // namespace traceinject
