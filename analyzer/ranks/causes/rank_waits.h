// SPDX-License-Identifier: Apache-2.0
// Wait against transfer, across ranks: of each matched operation, how long each rank waited for the
// last one, who that was and by how much, and how long the data then took.
//
// Two estimates of the transfer: A, the shortest kernel over the ranks, which needs no clocks; B,
// from the last start to the first end, on aligned clocks. They are within kMaxApartNs or a tenth
// of each other, or clocks or match are wrong: then A counts, and the wait of a rank is its kernel
// without A. Only operations that no rank leaves before all have entered have these, and Sends with
// their Recvs.
//
// Being late is passed on: a rank that waited long for one rank comes late to the next
// communicator. So lateness counts as *new* only as far as the rank itself took longer than the
// others since its GPU last waited for an operation, and what it was late by before, in operations
// that run beside its work, counts once.
//
// Of a wait that part is *exposed* in which no other kernel ran on the GPU. Where some of an
// operation was exposed that is taken to be its end, after other work, unless the GPU waited for
// another operation meanwhile.
//
// Kernels that were launched early and still began late, behind none of their communicator, found
// no room on their own GPU. That is kept apart. It shows only where kernels usually begin soon
// after their launch.
//
// Units: int64 nanoseconds; moments are on the job's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ranks/match/align_clocks.h"
#include "analyzer/ranks/match/match_ranks.h"

namespace traceinject {

inline constexpr TimeNs kMaxApartNs = 20'000;

struct OperationWaits {
  bool measured = false;         // false: ranks may leave it early; nothing else is set
  bool incomplete = false;       // the record of a member is missing
  bool disagrees = false;        // A and B are too far apart
  bool by_length = false;        // from the lengths of the kernels, without clocks
  std::uint32_t last = kNone;    // index into MatchedGroup::members; kNone: not known
  TimeNs last_start = 0;         // unless by_length
  TimeNs transfer_ns = 0;        // the best estimate
  TimeNs shortest_ns = 0;        // A
  TimeNs after_last_ns = kOpen;  // B; kOpen: clocks are not aligned
  TimeNs late_ns = 0;            // of the last after the one before it
  TimeNs new_late_ns = 0;        // of that, what is new
  TimeNs contention_ns = 0;      // of that, because it found no room on its own GPU
};

struct WaitSums {
  std::int64_t operations = 0;  // measured ones that it recorded
  std::int64_t last = 0;        // in which it was the last
  TimeNs wait_ns = 0, exposed_wait_ns = 0;
  TimeNs transfer_ns = 0, exposed_transfer_ns = 0;
  TimeNs pipeline_wait_ns = 0;  // of wait_ns, for the peer of a Send or Recv
  TimeNs late_ns = 0;           // after the one before it, where it was last
  TimeNs caused_ns = 0;         // of that, what is new and not contention
  TimeNs contention_ns = 0;     // of its kernels, whether it was last or not

  WaitSums& operator+=(const WaitSums& other);
};

struct RankWaits {
  std::vector<WaitSums> steps;  // as RankSummary::steps
  WaitSums all;                 // also of what is in none of them
};

struct JobWaits {
  std::vector<std::vector<OperationWaits>> groups;  // as RankMatches::groups and their operations
  std::vector<RankWaits> ranks;                     // as Job::ranks
  std::int64_t operations = 0, incomplete = 0;      // measured ones; of these
  std::int64_t compared = 0, disagreeing = 0;       // with both A and B; of these
  std::vector<std::string> notes;                   // in sentences
};

// O(records + operations log operations).
JobWaits FindWaits(const Job& job, const RankMatches& matches, const ClockAlignment& clocks);

// How long a member waited in an operation; 0 if it has no record of it.
TimeNs WaitOf(const Job& job, const ClockAlignment& clocks, const MatchedGroup& group,
              const OperationWaits& waits, std::size_t operation, std::size_t member);

}  // namespace traceinject
