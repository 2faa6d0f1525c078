// SPDX-License-Identifier: Apache-2.0
// Finds what a host thread was doing at a moment or during an interval, in columns that hold the
// events of all threads.
//
// Events are half-open [start, end); an end of kOpen is in the future of everything. Events of one
// thread usually nest, but nothing here relies on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

class ThreadRows {
 public:
  // The columns of times (sorted by start) must outlive this. Rows of threads outside
  // [0, thread_count) are left out. O(n).
  ThreadRows(const TimeColumn& start, const TimeColumn& end, const IndexColumn& thread,
             std::size_t thread_count)
      : start_(start), end_(end) {
    Index(std::views::iota(0U, static_cast<std::uint32_t>(thread.size())), thread, thread_count);
  }
  // For those who ask about times inside `times` (merged) only: a few of many rows are kept.
  ThreadRows(const TimeColumn& start, const TimeColumn& end, const IndexColumn& thread,
             std::size_t thread_count, const Intervals& times);

  // The row that began last among those of the thread that contain t, or kNone. O(log n + nesting
  // depth).
  std::uint32_t Innermost(std::uint32_t thread, TimeNs t) const;

  // Calls visit(row) for every row of the thread that overlaps the time: first those that were open
  // when it began, innermost first, then those that began in it, in order. O(log n + nesting depth
  // + rows visited).
  template <typename Visit>
  void ForEachOverlapping(std::uint32_t thread, Interval time, Visit visit) const {
    if (thread >= thread_count()) return;
    std::uint32_t at = FirstFrom(thread, time.start);
    for (std::uint32_t open = EnclosingAt(thread, at, time.start); open != kNone;
         open = parent_[open]) {
      if (end_[rows_[open]] > time.start) visit(rows_[open]);
    }
    for (; at < first_[thread + 1] && start_[rows_[at]] < time.end; ++at) visit(rows_[at]);
  }

  std::size_t thread_count() const { return first_.size() - 1; }

 private:
  // `rows`: those to keep, ascending.
  template <typename Rows>
  void Index(const Rows& rows, const IndexColumn& thread, std::size_t thread_count) {
    first_.assign(thread_count + 1, 0);
    for (const std::uint32_t row : rows) {
      if (thread[row] < thread_count) ++first_[thread[row] + 1];
    }
    for (std::size_t t = 0; t < thread_count; ++t) first_[t + 1] += first_[t];
    rows_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (const std::uint32_t row : rows) {
      if (thread[row] < thread_count) rows_[next[thread[row]]++] = row;
    }
    FindParents();
  }
  void FindParents();
  // Position of the thread's first row that starts at or after t.
  std::uint32_t FirstFrom(std::uint32_t thread, TimeNs t) const;
  // Position of the innermost row before position `at` that ends after t, or kNone.
  std::uint32_t EnclosingAt(std::uint32_t thread, std::uint32_t at, TimeNs t) const;

  const TimeColumn& start_;
  const TimeColumn& end_;
  std::vector<std::uint32_t> first_;  // per thread: position of its first row; one more at the end
  std::vector<std::uint32_t> rows_;   // per position: row, by thread and start
  std::vector<std::uint32_t>
      parent_;  // per position: position of the last earlier row still open at its start
};

}  // namespace traceinject
