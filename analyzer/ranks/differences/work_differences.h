// SPDX-License-Identifier: Apache-2.0
// What a late rank does that its peers do not: kernels by name and shape, lines of the program.
//
// A peer's figure is the median over the peers, at most kMaxComparedPeers of them. Summaries hold
// the largest kernels only: what a peer with a full list does not list takes as long there as the
// least that it lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

inline constexpr std::size_t kMaxComparedPeers = 64, kMaxDifferences = 3;

// Kernels of one name that take longer on a rank than on its peers. Figures are of a mean step.
struct KernelDifference {
  enum class Kind : std::uint8_t {
    kMore,    // it runs more of them
    kLarger,  // as many, on more data
    kSlower,  // the same ones, which take longer
  };
  Kind kind = Kind::kMore;
  std::string kernel;
  WorkShape shape, peers_shape;  // all 0: not known; of the peers only of kLarger
  double count = 0, peers_count = 0;
  double ratio = 0;  // how long one takes, over the peers'; 0: they have none
  double more_ns = 0;
  std::string place;  // of the line that launched most of that; empty: no line did, or is known
};

// A line that takes longer on a rank than on its peers, of a mean step.
struct LineDifference {
  std::string place;
  bool in_worker = false;  // of a data loader
  double ns = 0, peers_ns = 0;

  double more_ns() const { return ns - peers_ns; }
};

// Those that make up this time or more, the largest first. O(peers x shapes).
std::vector<KernelDifference> CompareKernels(const Job& job, std::size_t rank,
                                             const std::vector<std::size_t>& peers,
                                             double least_ns);
// Likewise, of the thread that launches or of its data workers. O(peers x lines).
std::vector<LineDifference> CompareLines(const Job& job, std::size_t rank,
                                         const std::vector<std::size_t>& peers, bool in_worker,
                                         double least_ns);

}  // namespace traceinject
