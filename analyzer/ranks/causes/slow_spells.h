// SPDX-License-Identifier: Apache-2.0
// Ranks that are slow for a part of the run only: a GPU that throttles, a host that is busy with
// something else, one rank after the other.
//
// Looked at is a rank's own time over what its peers take in the same step (work_table.h), step by
// step: spells in which it is raised (level_changes.h, with the limits of Greyhound, "Hunting
// Fail-Slows in Hybrid-Parallel Training at Scale", 2025). What they cost is played (job_replay.h)
// with the rank at what its peers take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/ranks/causes/stragglers.h"
#include "analyzer/ranks/causes/work_table.h"
#include "analyzer/ranks/replay/job_replay.h"
#include "analyzer/ranks/replay/job_steps.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// Those that are played, the worst of all: a play costs all rows of the replay.
inline constexpr std::size_t kMaxPlayedSpells = 16;
// What costs less of the steps that it lasts is not worth a finding: others were later still.
inline constexpr double kMinSpellSaving = 0.02;

struct SlowSpell {
  std::vector<std::size_t> ranks;   // summaries; several: of one host, at the same time
  std::size_t first = 0, last = 0;  // steps of the job
  std::size_t steps = 0;            // regular ones of these
  std::size_t slowest = 0;          // summary; of it:
  double change = 0;                // how much slower it is than otherwise, of what its peers take
  double excess_ns = 0;             // the same of a mean step of the spell
  Slowness slowness = Slowness::kHost;
  IdleCause idle_cause = IdleCause::kUnknown;  // kHost
  // Without it; empty: it was not simulated, being none of the worst or beyond the steps of the
  // replay.
  std::optional<JobSaving> saving;  // of a mean step
  double saved_ns = 0;              // of all steps together
  double saved_step_ns = 0;         // of a step, while it lasted
};

// By what they cost; those that were not played last, by their excess. O(ranks x steps + plays x
// rows).
std::vector<SlowSpell> FindSlowSpells(const Job& job, const JobSteps& steps, const WorkTable& work,
                                      const JobReplay& replay);

// Which steps of which rank are part of a spell.
class SpellSteps {
 public:
  SpellSteps(const std::vector<SlowSpell>& spells, std::size_t ranks);
  bool empty() const { return empty_; }
  // O(spells of the rank).
  bool Has(std::size_t rank, std::size_t step) const;

 private:
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> of_rank_;  // first and last
  bool empty_ = true;
};

// Factor on the own time of a rank: in a spell, at what its peers take; all others as they are but
// for what they lose by waiting.
double WithoutSpells(const WorkTable& work, const SpellSteps& spells, std::size_t rank,
                     std::size_t step);

}  // namespace traceinject
