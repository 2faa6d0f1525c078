// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/sort_columns.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <ranges>
#include <utility>

namespace traceinject {
namespace {

using Rows = std::vector<std::uint32_t>;

// Tables that follow each other each need a round, as does a far too late time that puts all after
// it out of order.
constexpr std::size_t kMaxRounds = 8;

// Column: of times.
template <typename Column>
class Sorter {
 public:
  Sorter(const Column& start, const Column& end) : start_(start), end_(end) {}

  bool Before(std::uint32_t a, std::uint32_t b) const {
    if (start_[a] != start_[b]) return start_[a] < start_[b];
    if (end_[a] != end_[b]) return end_[a] < end_[b];
    return a < b;
  }

  // Each round takes out the rows that stand in order with those before and leaves the rest to the
  // next one; what they took is merged.
  RowOrder Sort() const {
    RowOrder rest;
    rest.Append({0, static_cast<std::uint32_t>(start_.size())});
    std::vector<RowOrder> taken;
    while (taken.size() < kMaxRounds && !rest.empty()) rest = Take(rest, taken);
    Rows last = rest.rows();
    std::sort(last.begin(), last.end(), [this](auto a, auto b) { return Before(a, b); });
    RowOrder order(last);
    for (; !taken.empty(); taken.pop_back())
      order = order.empty() ? std::move(taken.back()) : Merged(taken.back(), order);
    return order;
  }

 private:
  // Goes through an order from its first row to its last.
  class Cursor {
   public:
    explicit Cursor(const RowOrder& order) : run_(order.runs().begin()), end_(order.runs().end()) {}

    bool at_end() const { return run_ == end_; }
    std::uint32_t row() const { return run_->first + passed_; }
    std::uint32_t left_in_run() const { return run_->count - passed_; }
    void Pass(std::uint32_t rows) {
      passed_ += rows;
      if (passed_ < run_->count) return;
      ++run_;
      passed_ = 0;
    }

   private:
    std::vector<RowOrder::Run>::const_iterator run_, end_;
    std::uint32_t passed_ = 0;  // rows of the run
  };

  // Returns the rest.
  RowOrder Take(const RowOrder& rows, std::vector<RowOrder>& taken) const {
    RowOrder in_order, rest;
    std::uint32_t last = rows.runs().front().first;  // in order
    for (const RowOrder::Run& run : rows.runs()) {
      const std::uint32_t end = run.first + run.count;
      for (std::uint32_t row = run.first; row < end;) {
        const std::uint32_t first = row;
        while (row < end && !Before(row, last)) last = row++;
        if (row > first) in_order.Append({first, row - first});
        const std::uint32_t late = row;
        while (row < end && Before(row, last)) ++row;
        if (row > late) rest.Append({late, row - late});
      }
    }
    taken.push_back(std::move(in_order));
    return rest;
  }

  RowOrder Merged(const RowOrder& a, const RowOrder& b) const {
    RowOrder both;
    Cursor x(a), y(b);
    while (!x.at_end() && !y.at_end()) {
      const bool y_is_first = Before(y.row(), x.row());
      Cursor& first = y_is_first ? y : x;
      AppendFrom(first, RowsBefore(first, (y_is_first ? x : y).row()), both);
    }
    while (!x.at_end()) AppendFrom(x, x.left_in_run(), both);
    while (!y.at_end()) AppendFrom(y, y.left_in_run(), both);
    return both;
  }
  static void AppendFrom(Cursor& from, std::uint32_t rows, RowOrder& to) {
    to.Append({from.row(), rows});
    from.Pass(rows);
  }
  // How many rows of the cursor's run come before a row; its first one does. O(log of that).
  std::uint32_t RowsBefore(const Cursor& cursor, std::uint32_t limit) const {
    const std::uint32_t first = cursor.row(), left = cursor.left_in_run();
    std::uint32_t before = 1, step = 1;
    for (; before < left && Before(first + before, limit); step *= 2)
      before += std::min(step, left - before);
    const std::uint32_t known = before - std::min(before - 1, step / 2);
    const auto rows = std::views::iota(known, before);
    const auto end = std::ranges::partition_point(
        rows, [&](std::uint32_t rows_on) { return Before(first + rows_on, limit); });
    return known + static_cast<std::uint32_t>(end - rows.begin());
  }

  const Column& start_;
  const Column& end_;
};

template <typename Column>
RowOrder OrderOf(const Column& start, const Column& end) {
  const Sorter<Column> sorter(start, end);
  const auto count = static_cast<std::uint32_t>(start.size());
  std::uint32_t row = 0;
  constexpr TimeNs kEarliest = std::numeric_limits<TimeNs>::min();
  for (Interval last{kEarliest, kEarliest}; row < count; ++row) {
    const Interval next{start[row], end[row]};
    if (next.start < last.start || (next.start == last.start && next.end < last.end)) break;
    last = next;
  }
  if (row == count) return {};
  return sorter.Sort();
}

}  // namespace

RowOrder SortedOrder(const TimeColumn& start, const TimeColumn& end) { return OrderOf(start, end); }

RowOrder SortedOrder(const std::vector<TimeNs>& start, const std::vector<TimeNs>& end) {
  return OrderOf(start, end);
}

}  // namespace traceinject
