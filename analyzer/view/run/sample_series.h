// SPDX-License-Identifier: Apache-2.0
// What was sampled beside the events, as counters to draw.
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/counter_series.h"

namespace traceinject {

struct SampleSeries {
  std::string label, note;
  CounterSeries series;
};

// Clocks, power, temperature, utilization and memory of a device, and what PyTorch's allocator has
// of it, those of them that are known.
// O(samples).
std::vector<SampleSeries> DeviceSeries(const Rank& rank, const Device& device);

// Hardware counters of a device, in per cent of what the unit can do or in MiB/s: those that tell
// most (SMs, tensor cores, memory), or the others. O(samples x counters).
enum class CounterChoice { kMain, kOthers };
std::vector<SampleSeries> HardwareCounterSeries(const Device& device, CounterChoice choice);

// Processor time of the process' threads together, and of its data workers, in per cent of one
// processor. O(samples x log threads).
std::vector<SampleSeries> HostSeries(const Rank& rank);

}  // namespace traceinject
