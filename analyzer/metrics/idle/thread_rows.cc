// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/thread_rows.h"

#include <algorithm>

namespace traceinject {

ThreadRows::ThreadRows(const TimeColumn& start, const TimeColumn& end, const IndexColumn& thread,
                       std::size_t thread_count, const Intervals& times)
    : start_(start), end_(end) {
  std::vector<std::uint32_t> kept;
  auto time = times.begin();  // the first that is not all in the past
  for (std::uint32_t row = 0; row < start.size(); ++row) {
    while (time != times.end() && time->end < start[row]) ++time;
    if (time == times.end()) break;
    if (end[row] >= time->start) kept.push_back(row);
  }
  Index(kept, thread, thread_count);
}

void ThreadRows::FindParents() {
  parent_.assign(rows_.size(), kNone);
  std::vector<std::uint32_t> open;
  for (std::size_t t = 0; t < thread_count(); ++t) {
    open.clear();
    for (std::uint32_t at = first_[t]; at < first_[t + 1]; ++at) {
      while (!open.empty() && end_[rows_[open.back()]] <= start_[rows_[at]]) open.pop_back();
      if (!open.empty()) parent_[at] = open.back();
      open.push_back(at);
    }
  }
}

std::uint32_t ThreadRows::Innermost(std::uint32_t thread, TimeNs t) const {
  if (thread >= thread_count()) return kNone;
  const auto begin = rows_.begin() + first_[thread];
  const auto after =
      std::upper_bound(begin, rows_.begin() + first_[thread + 1], t,
                       [this](TimeNs time, std::uint32_t row) { return time < start_[row]; });
  const auto position = static_cast<std::uint32_t>(after - rows_.begin());
  const std::uint32_t found = EnclosingAt(thread, position, t);
  return found == kNone ? kNone : rows_[found];
}

std::uint32_t ThreadRows::FirstFrom(std::uint32_t thread, TimeNs t) const {
  const auto found =
      std::lower_bound(rows_.begin() + first_[thread], rows_.begin() + first_[thread + 1], t,
                       [this](std::uint32_t row, TimeNs time) { return start_[row] < time; });
  return static_cast<std::uint32_t>(found - rows_.begin());
}

std::uint32_t ThreadRows::EnclosingAt(std::uint32_t thread, std::uint32_t at, TimeNs t) const {
  if (at == first_[thread]) return kNone;
  std::uint32_t candidate = at - 1;
  while (candidate != kNone && end_[rows_[candidate]] <= t) candidate = parent_[candidate];
  return candidate;
}

}  // namespace traceinject
