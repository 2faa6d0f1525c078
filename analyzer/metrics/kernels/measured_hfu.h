// SPDX-License-Identifier: Apache-2.0
// Hardware FLOPs utilization (HFU) as measured: what kernels computed at the dense peak rates, by
// the FLOPs of recorded calls, and of all other kernels by the counter of the tensor cores.
//
// The counter tells the cycles in which tensor cores were busy. With instructions of a warp group,
// and with all of GPUs before Hopper, a busy cycle is one at the full rate; with those of a warp
// (mma.sync) Hopper takes half as long again (kWarpRate). On an H100 this gives within 1 % what a
// FLOP counter counts (tests/gpu/results/counters.md). Elementwise kernels of 16
// bits use the same pipe: what kernels do whose names tell that they multiply no matrices is left
// out. The counter is of what kernels execute, padding included; shapes tell what is needed.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/metrics/counters/kernel_counters.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/calls/library_calls.h"
#include "analyzer/model/run.h"

namespace traceinject {

inline constexpr double kWarpRate = 2.0 / 3;
// Standard error of what a busy cycle stands for, of itself.
inline constexpr double kBusyCycleError = 0.01;

struct MeasuredHfu {
  double share = 0, error = 0;  // of the time, at the dense peak; its standard error
  double counted_share = 0;     // the part of `share` that shapes tell
  double counter_share = 0;     // by the counter alone
  // Of the kernels of recorded calls, by shapes over by the counter. Empty: there are none.
  std::optional<double> shapes_by_counter;
};

// Of the dense peak, what a kernel computes while it runs, by the counter. Empty: it is not known.
std::optional<CounterShare> TensorUseOf(const Rank& rank, const Device& device,
                                        const KernelCounters& kernel,
                                        std::optional<double> busy_by_rated);

struct HfuSources {
  const DeviceCounters& counters;
  const std::vector<KernelCounters>& kernels;
  // Of the time, what the FLOPs of recorded calls would take at the dense peak; empty: not known.
  std::optional<double> counted_share;
  // Clock that the GPU had, by that of the published rate, for recordings that did not sample it.
  std::optional<double> busy_by_rated;
};

// Of the operations in the ranges, over `times_ns`. Empty: the counter or a clock is not known.
// O(operations).
std::optional<MeasuredHfu> MeasureHfu(const Rank& rank, const Device& device,
                                      const LibraryCalls& calls, const OpRanges& ranges,
                                      TimeNs times_ns, const HfuSources& sources);

}  // namespace traceinject
