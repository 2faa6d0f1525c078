// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/process_label.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceinject {

std::string ProcessLabel(const Run& run, const Rank& rank) {
  if (!rank.rank) return fmt::format("pid {}", rank.process.pid);
  const auto of_that_rank = std::count_if(run.ranks.begin(), run.ranks.end(),
                                          [&](const Rank& each) { return each.rank == rank.rank; });
  return of_that_rank > 1 ? fmt::format("rank {} pid {}", *rank.rank, rank.process.pid)
                          : fmt::format("rank {}", *rank.rank);
}

}  // namespace traceinject
