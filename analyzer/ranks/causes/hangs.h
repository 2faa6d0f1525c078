// SPDX-License-Identifier: Apache-2.0
// Which operation ranks stand in at the end of their recordings, and who never came to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct Hang {
  std::uint64_t hash = 0;  // of the communicator
  std::string function;
  std::int64_t bytes = -1, sequence = -1;  // -1: unknown
  TimeNs since = 0;                        // the first of the waiting ranks began it
  std::vector<std::size_t> waiting;        // summaries: they stand in it
  // Members of the communicator, recorded, that neither stand in it nor completed it. Those whose
  // recordings ended first come first: they died, or are elsewhere in the program.
  std::vector<std::size_t> absent;
  std::vector<int> not_recorded;  // ranks in the communicator of which there is no recording
  // Nobody is absent: all came, and it does not complete.
  bool all_came() const { return absent.empty() && not_recorded.empty(); }
};

// The operation that came first on every communicator that some rank stands in; those that most
// ranks wait in first. O(operations).
std::vector<Hang> FindHangs(const Job& job);

}  // namespace traceinject
