// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/operation_axis.h"

#include <algorithm>
#include <utility>

namespace traceinject {

void OperationAxis::Add(std::span<const SequencedOperation> operations,
                        std::span<const std::uint32_t> rows, const AlignOptions& options) {
  const AlignedPairs pairs = AlignOperations(operations_, operations, options);
  std::vector<std::uint32_t> id_of(operations.size(), kNone);
  for (const auto& [at, own] : pairs) id_of[own] = ids_[at];
  last_difference_.push_back(pairs.empty() ? 0
                                           : operations[pairs.back().second].end -
                                                 operations_[pairs.back().first].end);
  if (pairs.size() < operations.size()) Insert(operations, pairs, id_of);
  std::vector<std::uint32_t>& column = columns_.emplace_back(ids_.size(), kNone);
  for (std::size_t own = 0; own < rows.size(); ++own) column[id_of[own]] = rows[own];
}

// Puts what the axis lacks between its neighbors there, by time.
void OperationAxis::Insert(std::span<const SequencedOperation> operations,
                           const AlignedPairs& pairs, std::vector<std::uint32_t>& id_of) {
  std::vector<SequencedOperation> all;
  std::vector<std::uint32_t> ids;
  all.reserve(operations_.size() + operations.size() - pairs.size());
  ids.reserve(all.capacity());
  TimeNs difference =
      pairs.empty() ? 0 : operations[pairs[0].second].end - operations_[pairs[0].first].end;
  std::size_t at = 0, own = 0;
  auto next_id = static_cast<std::uint32_t>(ids_.size());
  const auto take_axis = [&](std::size_t to) {
    for (; at < to; ++at) all.push_back(operations_[at]), ids.push_back(ids_[at]);
  };
  const auto take_until = [&](std::size_t axis_to, std::size_t own_to) {
    for (; own < own_to; ++own) {
      SequencedOperation one = operations[own];
      one.start -= difference;
      one.end -= difference;
      std::size_t to = at;
      while (to < axis_to && operations_[to].end <= one.end) ++to;
      take_axis(to);
      id_of[own] = next_id++;
      all.push_back(one);
      ids.push_back(id_of[own]);
    }
    take_axis(axis_to);
  };
  for (const auto& [axis_pair, own_pair] : pairs) {
    take_until(axis_pair, own_pair);
    difference = operations[own_pair].end - operations_[axis_pair].end;
    take_axis(axis_pair + 1);
    own = own_pair + 1;
  }
  take_until(operations_.size(), operations.size());
  operations_ = std::move(all);
  ids_ = std::move(ids);
}

std::vector<std::uint32_t> OperationAxis::TakeRows() {
  const std::size_t members = columns_.size();
  std::vector<std::uint32_t> rows(operations_.size() * members, kNone);
  for (std::size_t member = 0; member < members; ++member) {
    const std::vector<std::uint32_t> column = std::move(columns_[member]);
    for (std::size_t at = 0; at < ids_.size(); ++at) {
      if (ids_[at] < column.size()) rows[at * members + member] = column[ids_[at]];
    }
  }
  return rows;
}

}  // namespace traceinject
