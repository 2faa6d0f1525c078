// SPDX-License-Identifier: Apache-2.0
// Which metrics of CUPTI are which counters, by chip: the one table of what is asked for. That each
// set is collected in one pass is held against a real libcupti, which needs no GPU for it
// (counter_sets_test.cc); whether the hardware takes it, a trial tells (set_trial.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/counters.h"

namespace traceinject {

struct CounterMetric {
  CounterId counter;
  const char* metric;  // with its rollup and submetric
};

struct CounterSet {
  std::string_view name;  // of kCounterSetNames; several of one chip may share it
  std::span<const CounterMetric> metrics;
};

// What can be asked of a chip (cuptiDeviceGetChipName), the richest set first. Empty: the chip is
// not known.
std::vector<CounterSet> CounterSetsOf(std::string_view chip);

// Whether samples can be taken by time; else by cycles of the system clock.
bool SamplesByTime(std::string_view chip);

// Identifies the metrics of a set, whatever it is called.
std::uint64_t HashOf(const CounterSet& set);

// Metrics of NVML's GPM, by their numbers (nvmlGpmMetricId_t), on GPUs since Hopper.
struct GpmMetric {
  CounterId counter;
  unsigned int metric;
  const char* name;  // behind NVML_GPM_METRIC_
  double scale;      // of NVML's unit, percent or MiB/s, in the counter's
};
std::span<const GpmMetric> GpmMetrics();

}  // namespace traceinject
