// SPDX-License-Identifier: Apache-2.0
// Spells of slowness as findings.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/ranks/causes/slow_spells.h"
#include "analyzer/ranks/causes/stragglers.h"
#include "analyzer/ranks/match/align_clocks.h"
#include "analyzer/ranks/replay/job_steps.h"
#include "analyzer/ranks/summary/rank_summary.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// The worst spells are findings of their own; of more it is said in one who and when.
inline constexpr std::size_t kMaxSpellFindings = 4;

// What the spells of a job are described with.
struct SpellTimes {
  const Job& job;
  const JobSteps& steps;
  const ClockAlignment& clocks;
  double step_ns = 0;  // mean
};

std::vector<proto::RankFinding> DescribeSlowSpells(const SpellTimes& times,
                                                   const std::vector<SlowSpell>& spells);

// If the straggler is one because of spells (they last for half of the regular steps or more),
// takes these out, and says in its finding when they were.
void TellWhen(const SpellTimes& times, const Straggler& straggler, std::vector<SlowSpell>& spells,
              proto::RankFinding& to);

}  // namespace traceinject
