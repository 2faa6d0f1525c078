// SPDX-License-Identifier: Apache-2.0
// What a frame costs, without a window and without drawing it.
#pragma once

#include <memory>
#include <string>

#include "viewer/app/bench_opening.h"
#include "viewer/core/load/background_load.h"
#include "viewer/options/options.h"

namespace traceinject {

// Shows the run at zooms from all of it to 1 ms, each a quarter of the one before, pans through it
// at each, and measures every frame on this thread: the CPU time of asking the visible lanes what
// to draw (query), that of a whole frame up to ImGui's draw lists (frame; it holds a query of its
// own), and the draw commands and vertices that a renderer would get. JSON with p50, p95 and the
// most of each, over all frames and by zoom. `opening` is passed on.
std::string BenchFrames(std::unique_ptr<const LoadedRun> loaded, const OpeningTimes& opening,
                        const ViewerOptions& options);

}  // namespace traceinject
