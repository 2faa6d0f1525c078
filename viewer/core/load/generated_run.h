// SPDX-License-Identifier: Apache-2.0
// A run of any size without a file, to measure the viewer with.
#pragma once

#include <cstdint>
#include <memory>

#include "viewer/core/load/background_load.h"

namespace traceinject {

// `events` events, the same for the same number: eight ranks of one GPU each, whose streams
// overlap; CUDA calls and nested NVTX ranges on their threads. Beside them stand the rows that the
// viewer works out of a recording: steps, what a GPU was busy with, why it was idle, the depth of
// its queue. Lanes are full size, while the columns behind them hold a few events that many on the
// timeline share: with columns a hundred million events would need 3 GB more. O(events).
std::unique_ptr<const LoadedRun> GenerateRun(std::uint64_t events);

}  // namespace traceinject
