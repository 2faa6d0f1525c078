// SPDX-License-Identifier: Apache-2.0
// What a device did at each moment: the parts of a step's time as they lie in time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/model/intervals.h"

namespace traceinject {

// The busy ones, of several at once the first; then idle, one for each IdleCause.
inline constexpr std::uint8_t kStateCompute = 0, kStateCommunication = 1, kStateCopies = 2,
                              kStateUnrecorded = 3, kStateIdle = 4;
inline constexpr std::size_t kGpuStates = kStateIdle + kIdleCauses;

// "compute", "exposed copies", "idle: data wait", ...
std::string GpuStateName(std::size_t state);

struct GpuStretch {
  Interval time;
  std::uint8_t state = kStateUnrecorded;
};

// In order, disjoint. The analysis has its timeline and steps. O(operations + gaps) and a sort of
// what is left of them once merged.
std::vector<GpuStretch> GpuStatesIn(const DeviceAnalysis& judged, Interval span);

// Hands the states in times that come by start to a visitor. O(stretches + times) where they are
// disjoint.
class GpuStateSweep {
 public:
  explicit GpuStateSweep(const std::vector<GpuStretch>& states) : states_(&states) {}

  // visit(state, ns)
  template <typename Visit>
  void ForEach(Interval time, Visit visit) {
    while (next_ < states_->size() && (*states_)[next_].time.end <= time.start) ++next_;
    for (std::size_t i = next_; i < states_->size() && (*states_)[i].time.start < time.end; ++i) {
      const GpuStretch& one = (*states_)[i];
      visit(one.state, std::min(one.time.end, time.end) - std::max(one.time.start, time.start));
    }
  }

 private:
  const std::vector<GpuStretch>* states_;
  std::size_t next_ = 0;
};

}  // namespace traceinject
