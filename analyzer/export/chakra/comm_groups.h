// SPDX-License-Identifier: Apache-2.0
// Communicators of a run as numbered groups of ranks, for formats that know no communicators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// The number of each rank's own file: its rank, if all have one of their own, else its place.
std::vector<int> NumbersOfRanks(const Run& run);

class CommGroups {
 public:
  explicit CommGroups(const Run& run);

  // From 1, the same on all ranks of a communicator. `communicator`: of run.ranks[rank]; 0 for
  // kNone.
  int NumberOf(std::size_t rank, std::uint32_t communicator) const;
  // NumbersOfRanks() of a rank of the communicator. Empty: no recording tells.
  std::optional<int> MemberOf(std::size_t rank, std::uint32_t communicator, int member) const;

  // {"1": [0, 1, 2, 3], ...}: the groups of which all members are known, as ASTRA-sim reads them.
  std::string Json() const;

 private:
  struct Group {
    int number = 0;
    std::optional<int> size;
    std::map<int, int> members;  // number of a rank by the rank in the communicator
  };
  const Group* Find(std::size_t rank, std::uint32_t communicator) const;

  const Run& run_;
  std::map<std::uint64_t, Group> groups_;  // by hash
};

}  // namespace traceinject
