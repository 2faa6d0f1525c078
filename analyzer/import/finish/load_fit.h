// SPDX-License-Identifier: Apache-2.0
// Finds how far the clock of the operations is ahead of the GPU's, by what kernels load.
//
// Launches of one kernel load the units of the GPU alike. So what a sample of hardware counters
// shows is, but for scatter, the sum over kernels of the share of its time in which each ran times
// what that one shows. Linear least squares tell how much of the samples an offset between the
// clocks leaves unexplained; the true one leaves least. No idle gap is needed, but kernels that
// differ: where one kernel runs all the time, every offset is as good.
//
// Only some blocks of samples are looked at, spread over the recording. Those that change most are
// tried at all offsets within the bounds; the others, near the one that was found, tell the drift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct ClockOffset {
  std::int64_t gpu_time = 0;  // around which it is
  TimeNs offset = 0;          // time of the operations less that of the GPU
};

// Where the offset can be, by what is known of this sample.
using OffsetBounds = std::function<Interval(std::size_t sample)>;

// Of each block, by time; none: the load does not tell. `gpu_time`: when each sample began, by the
// GPU's clock, ascending. O(bounds / period + samples + operations).
std::vector<ClockOffset> FitLoad(const Rank& rank, const Device& device,
                                 const std::vector<std::int64_t>& gpu_time,
                                 const OffsetBounds& bounds);

}  // namespace traceinject
