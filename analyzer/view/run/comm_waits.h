// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run wait for each other inside collectives, as the analysis across ranks
// tells it (rank_waits.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

class CommWaits {
 public:
  // Nothing is known.
  CommWaits() = default;
  // `run`: on one clock (align_run.h). Nothing is known of one rank alone. O(operations x log).
  explicit CommWaits(const Run& run);

  // Of the kernel of a collective that starts at `start_ns`: when the last rank had come, and data
  // began to move. Empty: it is not known, or it was this rank. O(log n).
  std::optional<TimeNs> TransferStart(std::uint32_t rank, std::uint32_t device,
                                      TimeNs start_ns) const;
  // Whether anything is known.
  bool any() const { return !held_up_.empty(); }
  // How long a rank held the others up by coming last, as far as it took longer itself; in all.
  TimeNs HeldUp(std::uint32_t rank) const { return rank < held_up_.size() ? held_up_[rank] : 0; }

 private:
  struct Split {
    TimeNs start = 0, transfer = 0;
  };
  std::vector<std::vector<std::vector<Split>>> splits_;  // by rank and device; by start
  std::vector<TimeNs> held_up_;                          // by rank
};

}  // namespace traceinject
