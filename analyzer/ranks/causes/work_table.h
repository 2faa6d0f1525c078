// SPDX-License-Identifier: Apache-2.0
// What each rank had to do in each step, beside what its peers had: the ranks with like work (of
// its pipeline stage; without pipelines all).
//
// That is its own time (own_time.h) less what its work took longer beside collectives that waited
// for other ranks (lost_beside.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ranks/causes/rank_waits.h"
#include "analyzer/ranks/replay/job_steps.h"
#include "analyzer/ranks/replay/own_time.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

class WorkTable {
 public:
  // `stage`: per summary; ranks of one are peers. O(ranks x steps x log ranks).
  WorkTable(const Job& job, const JobSteps& steps, const std::vector<OwnTime>& own,
            const std::vector<RankWaits>& waits, const std::vector<std::uint32_t>& stage);

  std::size_t ranks() const { return ranks_; }
  const std::vector<std::size_t>& regular_steps() const { return regular_; }  // of the job
  // What it had to do, ns; empty: the rank has no such step.
  std::optional<double> own_ns(std::size_t rank, std::size_t step) const;
  // Factor on the own time as recorded with which the rank takes so long.
  double Factor(std::size_t rank, std::size_t step, double ns) const;
  // The same without this share of what its work took longer beside transfers.
  double FactorWithout(std::size_t rank, std::size_t step, double share_of_transfers) const;
  // What the rank's peers took: their median; of two peers the shorter. Empty: it has no peer.
  std::optional<double> usual_ns(std::size_t rank, std::size_t step) const;
  // Mean over the peers, the rank included.
  std::optional<double> mean_ns(std::size_t rank, std::size_t step) const;
  std::optional<double> excess_ns(std::size_t rank, std::size_t step) const;
  const std::vector<std::size_t>& peers(std::size_t rank) const { return peers_[peers_of_[rank]]; }

 private:
  std::size_t at(std::size_t rank, std::size_t step) const { return step * ranks_ + rank; }
  std::size_t of_peers(std::size_t rank, std::size_t step) const {
    return step * peers_.size() + peers_of_[rank];
  }

  std::size_t ranks_ = 0;
  std::vector<std::size_t> regular_;
  std::vector<std::vector<std::size_t>> peers_;
  std::vector<std::size_t> peers_of_;     // per rank
  std::vector<double> own_, recorded_;    // steps x ranks; negative: none
  std::vector<double> beside_transfers_;  // of recorded_, what was lost
  std::vector<double> usual_, mean_;      // steps x sets of peers; negative: none
};

}  // namespace traceinject
