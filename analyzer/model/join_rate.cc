// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/join_rate.h"

namespace traceinject {

std::optional<double> JoinRate::share() const {
  if (operations == 0 || !calls_recorded) return std::nullopt;
  return static_cast<double>(joined) / static_cast<double>(operations);
}

JoinRate& JoinRate::operator+=(const JoinRate& other) {
  operations += other.operations;
  joined += other.joined;
  beyond += other.beyond;
  calls_recorded |= other.calls_recorded;
  return *this;
}

JoinRate CountJoins(const Rank& rank, const GpuOps& ops, OpRange range) {
  JoinRate join;
  join.calls_recorded = rank.api.size() > 0;
  for (std::size_t row = range.begin; row < range.end; ++row) {
    const bool joined = ops.launch[row] != kNone;
    if (!joined && rank.CallIsBeyond(ops.correlation[row])) {
      ++join.beyond;
      continue;
    }
    ++join.operations;
    join.joined += joined ? 1 : 0;
  }
  return join;
}

JoinRate CountJoins(const Rank& rank) {
  JoinRate join;
  for (const Device& device : rank.devices)
    join += CountJoins(rank, device.ops, {0, device.ops.size()});
  return join;
}

}  // namespace traceinject
