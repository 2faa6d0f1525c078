// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/sort_columns.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <utility>

namespace traceinject {
namespace {

using Rows = std::vector<std::uint32_t>;

// Tables that follow each other each need a round, as does a far too late time that puts all after
// it out of order.
constexpr std::size_t kMostRounds = 8;

class Sorter {
 public:
  Sorter(const std::vector<TimeNs>& start, const std::vector<TimeNs>& end)
      : start_(start), end_(end) {}

  bool Before(std::uint32_t a, std::uint32_t b) const {
    if (start_[a] != start_[b]) return start_[a] < start_[b];
    if (end_[a] != end_[b]) return end_[a] < end_[b];
    return a < b;
  }

  // Each round takes out the rows that stand in order with those before and leaves the rest to the
  // next one; what they took is merged.
  Rows Sort() const {
    std::vector<Rows> taken;
    Rows rows = Take(std::views::iota(0U, static_cast<std::uint32_t>(start_.size())), taken);
    while (taken.size() < kMostRounds && !rows.empty()) rows = Take(rows, taken);
    std::sort(rows.begin(), rows.end(), [this](auto a, auto b) { return Before(a, b); });
    for (; !taken.empty(); taken.pop_back())
      rows = rows.empty() ? std::move(taken.back()) : Merged(taken.back(), rows);
    return rows;
  }

 private:
  // Returns the rest.
  template <typename From>
  Rows Take(const From& rows, std::vector<Rows>& taken) const {
    Rows in_order, rest;
    in_order.reserve(rows.size());
    for (const std::uint32_t row : rows) {
      const bool late = !in_order.empty() && Before(row, in_order.back());
      (late ? rest : in_order).push_back(row);
    }
    taken.push_back(std::move(in_order));
    return rest;
  }
  Rows Merged(const Rows& a, const Rows& b) const {
    Rows both(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin(),
               [this](auto x, auto y) { return Before(x, y); });
    return both;
  }

  const std::vector<TimeNs>& start_;
  const std::vector<TimeNs>& end_;
};

}  // namespace

std::vector<std::uint32_t> SortedOrder(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& end) {
  const Sorter sorter(start, end);
  const auto count = static_cast<std::uint32_t>(start.size());
  std::uint32_t row = 1;
  while (row < count && sorter.Before(row - 1, row)) ++row;
  if (row >= count) return {};
  return sorter.Sort();
}

}  // namespace traceinject
