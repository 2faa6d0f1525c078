// SPDX-License-Identifier: Apache-2.0
// What each rank had to do, piece by piece: the passes of its micro-batches. So that a long
// sequence in one micro-batch can be told from a rank that has more to do.
//
// Where the source tells of operations (WorkOperations) each is a piece, and its kind is what it
// says. Elsewhere ranks of a pipeline have a piece between any two of their exchanges with other
// stages; its kind is what it came after and what it led to: between a Recv from the stage before
// and a Send to the stage after lies a forward pass. Other jobs have no pieces.
//
// Pieces of one kind in one step, of all ranks of a stage, are alike: the same layers on batches of
// the same size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/replay/job_steps.h"
#include "analyzer/ranks/replay/own_time.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct WorkPiece {
  TimeNs start = 0, end = 0;      // own time of the rank
  std::uint32_t step = 0;         // of the job
  std::uint32_t kind = 0;         // index into WorkPieces::kinds()
  std::int32_t micro_batch = -1;  // -1: not known

  double length() const { return static_cast<double>(end - start); }
};

// Factor of each piece of each rank.
using PieceFactors = std::vector<std::vector<double>>;

class WorkPieces {
 public:
  WorkPieces() = default;
  // `stage`: per summary, as Pipelines::stage. O(operations log operations).
  WorkPieces(const Job& job, const std::vector<MatchedGroup>& groups, const JobSteps& steps,
             const std::vector<OwnTime>& own, const std::vector<std::uint32_t>& stage);

  bool empty() const { return count_ == 0; }
  // In order of own time, one after the other; empty: there are none at all.
  const std::vector<std::vector<WorkPiece>>& of_ranks() const { return of_ranks_; }
  // Their names; empty: of pieces between exchanges.
  const std::vector<std::string>& kinds() const { return kinds_; }
  // Whether they are operations that the source tells of.
  bool are_told() const { return are_told_; }

  // What pieces are compared with.
  enum class Alike : std::uint8_t {
    kOfRank,   // of the same rank, step and kind
    kOfStage,  // of all ranks of its stage
    kOfJob,    // of all ranks, whatever their stage
  };
  // With which each piece takes the mean of those that are like it. O(pieces + sets x steps x
  // kinds).
  PieceFactors AtMean(Alike alike) const;
  // With which each kind takes as long on all stages, in the mean of a rank: their mean, of the
  // usual (median) rank of each stage. Pieces of kinds that not all stages have stay as they are.
  PieceFactors AtEvenStages() const;

 private:
  friend class PieceFinder;

  void TakeMean(const std::vector<std::size_t>& ranks, PieceFactors& factors) const;

  std::size_t steps_ = 0;
  std::vector<std::vector<WorkPiece>> of_ranks_;
  std::vector<std::uint32_t> stage_;
  std::vector<std::string> kinds_;
  std::size_t count_ = 0;
  bool are_told_ = false;
};

}  // namespace traceinject
