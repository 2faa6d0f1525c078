// SPDX-License-Identifier: Apache-2.0
// How fast the transfers of each group went, by kind of work: what groups and links are compared
// by.
//
// A transfer is the shortest kernel of an operation over its ranks: the last to come waited for
// nobody. So no clocks are needed, and skew is left out. Only operations that no rank leaves before
// all have entered count, and those between two ranks; and of these such that every recorded rank
// has the record of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// What can be compared: the same work on groups of the same size and reach.
struct LinkClass {
  int size = 0;  // ranks of a group; of a Send or Recv 2
  bool pair = false;
  bool one_host = false;  // all ranks of the group are on one
  std::string function, algorithm, protocol;
  int log2_bytes = 0;  // bit width of S, so that it is in [2^(w-1), 2^w)

  auto operator<=>(const LinkClass&) const = default;
  std::int64_t least_bytes() const { return std::int64_t{1} << (log2_bytes - 1); }
};

// Transfers of one class on one group.
struct GroupRate {
  std::size_t group = 0;  // matched
  std::size_t link = 0;   // of those between the same two ranks the first; else as group
  std::int64_t count = 0;
  double ns_per_byte = 0, transfer_ns = 0;  // medians
  double total_ns = 0, bytes = 0;           // sums
};

using LinkRates = std::map<LinkClass, std::vector<GroupRate>>;  // by group

// Factor on the transfers of each group with which those of a class take the mean of it on all
// groups. O(rates).
std::vector<double> TransfersAtMean(std::size_t groups, const LinkRates& rates);

// Whether no rank of the group is on another host than the rest. O(members).
bool IsOnOneHost(const Job& job, const MatchedGroup& group);

// O(records).
LinkRates MeasureLinks(const Job& job, const std::vector<MatchedGroup>& groups);

// What groups of a class usually need for a byte, and from where on one is slow: kSlowRatio of
// that, and more than 4 scaled median absolute deviations above it. Of three groups or fewer the
// fastest is the usual one. What two ranks send each way counts as one.
struct UsualRate {
  double ns_per_byte = 0, limit = 0;
};
inline constexpr double kSlowRatio = 1.25;

// Of groups with kMinTransfers or more; empty values (0) if there are fewer than two such.
// O(groups).
UsualRate UsualOf(const std::vector<GroupRate>& rates);
inline constexpr std::int64_t kMinTransfers = 5;

// Messages bound by latency (kLatencyBoundBytes) are fit for no comparison.
bool IsComparable(const LinkClass& of);

}  // namespace traceinject
