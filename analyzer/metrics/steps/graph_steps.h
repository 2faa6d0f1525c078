// SPDX-License-Identifier: Apache-2.0
// Training steps of a program that replays them from a CUDA graph, its optimizer included. Nothing
// marks them: the optimizer's code ran while the graph was captured and never again.
#pragma once

#include <optional>

#include "analyzer/metrics/steps/structure_steps.h"
#include "analyzer/model/run.h"

namespace traceinject {

// A step ends with each replay of the graph that updates parameters; of several such graphs, of the
// one that kept the device busy longest. Empty: there is none, it was replayed three times or less,
// or the device was busy for longer outside of these steps than in them.
// O(operations + replays log replays).
std::optional<StructureSteps> FindGraphSteps(const Rank& rank, const GpuOps& ops);

}  // namespace traceinject
