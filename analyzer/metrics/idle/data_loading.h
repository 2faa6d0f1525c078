// SPDX-License-Identifier: Apache-2.0
// Waits for data loaders, what came of them, and what the processes that prepare data were doing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct StepWaits {
  std::int64_t waits = 0;  // that begin in the step
  TimeNs wait_ns = 0;      // of the step, inside waits; of several threads each counts
  // In the batches whose waits end in the step; empty: of one it is not known, or none came.
  std::optional<std::int64_t> samples;
};

// One for each step. The host may run ahead of the device: a step's waits are those during it, and
// may be for the batch of a later one. O(waits + steps + overlaps).
std::vector<StepWaits> WaitsInSteps(const Rank& rank, const Steps& steps);

// A worker, from its first to its last sample in a window.
struct WorkerUse {
  std::uint32_t worker = kNone;            // index into Rank::workers
  TimeNs observed_ns = 0;                  // 0: fewer than two samples
  std::optional<std::int64_t> cpu_ns;      // used in that time; empty: not reported
  std::optional<std::int64_t> read_bytes;  // likewise
  std::int64_t looks = 0,
               looks_disk = 0;  // at its main thread, and those when it waited for storage
};

struct LoaderUse {
  std::uint32_t loader = kNone;  // index into Rank::loaders; kNone: not known which
  std::int64_t waits = 0;
  TimeNs wait_ns = 0, longest_ns = 0;   // inside the window
  std::optional<std::int64_t> samples;  // as in StepWaits
  std::vector<WorkerUse> workers;
};

// The loaders that the process waited for in the window, or whose workers lived in it; that of
// unknown loaders last. O(waits + samples + workers).
std::vector<LoaderUse> UseOfLoaders(const Rank& rank, Interval window);

}  // namespace traceinject
