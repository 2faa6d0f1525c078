// SPDX-License-Identifier: Apache-2.0
// What each rank had to do in each step, beside what its peers had: the ranks with like work (of
// its pipeline stage; without pipelines all).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ranks/job_steps.h"
#include "analyzer/ranks/own_time.h"
#include "analyzer/ranks/rank_summary.h"

namespace traceinject {

class WorkTable {
 public:
  // `stage`: per summary; ranks of one are peers. O(ranks x steps x log ranks).
  WorkTable(const Job& job, const JobSteps& steps, const std::vector<OwnTime>& own,
            const std::vector<std::uint32_t>& stage);

  std::size_t ranks() const { return ranks_; }
  const std::vector<std::size_t>& regular_steps() const { return regular_; }  // of the job
  // Own time, ns; empty: the rank has no such step.
  std::optional<double> own_ns(std::size_t rank, std::size_t step) const;
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
  std::vector<std::size_t> peers_of_;  // per rank
  std::vector<double> own_;            // steps x ranks; negative: none
  std::vector<double> usual_, mean_;   // steps x sets of peers; negative: none
};

}  // namespace traceinject
