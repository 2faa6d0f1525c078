// SPDX-License-Identifier: Apache-2.0
// What sampled hardware counters show of each kernel, and of a device as a whole.
//
// A sample is the mean of the whole GPU over its time. Where one launch, alone, runs from its
// beginning to its end, it is that of the kernel: with kExactSamples of them, their mean counts.
// Else a sample is taken for the sum over the kernels in it of the share of its time that each had
// times what the kernel shows while it runs (kernels that run at the same time share it): linear
// least squares over all samples, which separates kernels as far as they stand in different
// proportions. Launches of one name with different grids are different kernels there; what a name
// shows is their mean by time. Errors are standard errors; one above kLargestError says nothing,
// and the figure is left out. Copies are one more kernel, without a figure; an idle GPU shows 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"
#include "schemas/counters.h"

namespace traceinject {

inline constexpr std::int64_t kExactSamples = 3;
inline constexpr double kLargestError = 0.1;

// Of what the unit could do at most: 0 to 1.
struct CounterShare {
  CounterId id = CounterId::kCount;
  double share = 0, error = 0;
};

enum class KernelLimit : std::uint8_t {
  kUnknown,  // the counters do not tell
  kTensor,
  kMemory,
  kFp32,
  kFp64,
  kLaunch,
  kLatency,
};

// Of all launches of one name.
struct KernelCounters {
  std::uint32_t name = kNone;   // Rank::strings
  std::uint32_t shape = kNone;  // Rank::shapes, one of that name
  std::int64_t samples = 0;     // with some of it; where exact, those that are its own
  bool exact = false;
  TimeNs ns = 0;                     // they ran in the times
  std::vector<CounterShare> values;  // by id
  // Of the tensor cores' time at the clock of the published rate, by the clock of each sample;
  // empty: a clock is not known.
  std::optional<CounterShare> tensor_at_rated;

  std::optional<CounterShare> value(CounterId id) const;
  std::optional<double> share(CounterId id) const;
  // Of the memory's bandwidth, both directions together, whichever way they were sampled.
  std::optional<CounterShare> memory() const;
  // Of the tensor cores' time, of the types that were sampled.
  std::optional<CounterShare> tensor() const;
  // The clock while tensor cores were busy; empty: not known, or they hardly were. `rated_mhz`: as
  // for tensor_at_rated.
  std::optional<double> tensor_clock_mhz(double rated_mhz) const;
  // What is used most, if that is kLimiting or more; else kLaunch where SMs stand empty for want of
  // blocks, kLatency where they wait.
  KernelLimit limit() const;
};

inline constexpr double kLimiting = 0.6;

// "tensor", "memory", "fp32", "fp64", "launch", "latency"; empty: unknown.
std::string_view LimitName(KernelLimit limit);

// Of samples inside the times. O(samples + operations log operations + names^3), with at most some
// hundred kernels: those with most time. `rated_mhz`: clock of the published rate.
std::vector<KernelCounters> AttributeCounters(const Rank& rank, const Device& device,
                                              const Intervals& times,
                                              std::optional<double> rated_mhz = std::nullopt);

struct DeviceCounters {
  std::vector<CounterShare> means;              // over the time that has samples; without errors
  std::optional<CounterShare> tensor_at_rated;  // as in KernelCounters; its error is for the time
                                                // without samples
  TimeNs covered_ns = 0;                        // of the times

  std::optional<double> mean(CounterId id) const;
};

// O(samples).
DeviceCounters MeanCounters(const Device& device, const Intervals& times,
                            std::optional<double> rated_mhz = std::nullopt);

}  // namespace traceinject
