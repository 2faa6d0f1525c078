// SPDX-License-Identifier: Apache-2.0
// What the steps of a job would have taken, had ranks or links been different.
//
// Each rank is played as a line of its own time (own_time.h) on which its operations lie:
//   ready    where the operation begins on the rank;
//   blocked  where the rank cannot go on before the operation has ended; only if it waited for it.
// An operation that several ranks do together takes its transfer time from the moment at which the
// last of them has come, and a rank does one operation of a communicator after the other:
//   end = max over ranks of max(ready, end of the operation before it) + transfer.
// The transfer is the shortest kernel over the ranks: the last to come waited for nobody. So no
// common clock is needed. With nothing changed the recorded steps come out again, but for what the
// model leaves out: error() says how far off.
//
// A kernel that begins right after the one before it on its communicator may have been ready
// before. If the last rank to come did not have to queue for it, it is taken to be ready as long
// after the one before as there, in proportion to what the two ranks have to do in that step; else
// as soon as the one before was.
//
// Not modelled: hosts and links that ranks share, and communication that takes SMs and memory
// bandwidth from compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/replay/job_steps.h"
#include "analyzer/ranks/replay/own_time.h"
#include "analyzer/ranks/replay/work_pieces.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// What is different.
struct JobChange {
  // Factor on the own time of a rank (index of its summary) in a step of the job; empty: 1.
  std::function<double(std::size_t summary, std::size_t step)> own = {};
  // Beside that, factor on a piece of its work (index into WorkPieces::of_ranks()); empty: 1.
  std::function<double(std::size_t summary, std::size_t piece)> piece = {};
  // Factor on the transfers of a matched group (its index); empty: 1.
  std::function<double(std::size_t group)> transfer = {};
};

class JobReplay {
 public:
  // Rows of operations (each counts on every rank) that are played at most: the first steps that
  // hold so many. Bounds memory: some 60 bytes each.
  static constexpr std::size_t kMaxRows = 5'000'000;

  // Does not keep its arguments. O(rows log rows).
  JobReplay(const Job& job, const std::vector<MatchedGroup>& groups, const JobSteps& steps,
            const std::vector<OwnTime>& own, const WorkPieces& pieces = {});

  // Steps of the job [first_step, end_step) that Play() gives lengths of; none: there are too few
  // that all numbered ranks have.
  std::size_t first_step() const { return first_step_; }
  std::size_t end_step() const { return end_step_; }
  bool empty() const { return end_step_ <= first_step_; }
  // Events that a play goes through.
  std::size_t rows() const;

  // Length of each of these steps: from the end of the step before to its own, the mean over ranks.
  // O(rows).
  std::vector<double> Play(const JobChange& change) const;
  // Play() with nothing changed.
  const std::vector<double>& unchanged() const { return unchanged_; }
  // As recorded, counted likewise.
  const std::vector<double>& recorded() const { return recorded_; }
  // |sum played with nothing changed / sum recorded - 1|.
  double error() const { return error_; }

 private:
  friend class JobPlayer;
  friend class LineBuilder;

  // In the order of those of one moment: a step that ends with an operation ends after it.
  enum class EventKind : std::uint8_t { kReady, kBlocked, kPiece, kStepEnd };
  struct Event {
    TimeNs own = 0;          // where on the rank's own time
    TimeNs wall = 0;         // recorded: the order of those at the same own time
    std::uint32_t what = 0;  // operation, step of the job, or piece that begins; kNone: one ends
    EventKind kind = EventKind::kReady;
  };
  struct Operation {
    TimeNs transfer_ns = 0;
    std::uint32_t group = 0;  // index into the matched groups; kNone: of one rank alone
    std::uint32_t comes = 0;  // ranks that take part, and operations that must have ended before
  };
  struct Line {
    TimeNs start = 0;  // own time where the first step begins
    std::vector<Event> events;
    bool used = false;
  };

  std::size_t played_from_ = 0;  // the step before first_step_: it brings the ranks in line
  std::size_t first_step_ = 0, end_step_ = 0;
  std::vector<Operation> operations_;
  // Operations that come after one on a rank: successors_[first_successor_[i]...].
  std::vector<std::uint32_t> first_successor_, successors_;
  std::vector<Line> lines_;  // by summary
  std::vector<double> recorded_, unchanged_;
  double error_ = 0;
};

}  // namespace traceinject
