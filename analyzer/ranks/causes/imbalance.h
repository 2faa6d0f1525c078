// SPDX-License-Identifier: Apache-2.0
// Work that is uneven from step to step, or from micro-batch to micro-batch (see stragglers.h).
#pragma once

#include "analyzer/ranks/causes/stragglers.h"

namespace traceinject {

class SpellSteps;

// O(ranks x steps + pieces + plays x rows).
Imbalance FindImbalance(const Job& job, const WorkTable& work, const WorkPieces& pieces,
                        const SpellSteps& spells, const JobReplay& replay, double step_ns);

}  // namespace traceinject
