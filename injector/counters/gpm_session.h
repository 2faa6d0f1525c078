// SPDX-License-Identifier: Apache-2.0
// NVML's GPM metrics of one device, on Hopper and later: what CUPTI's PM sampling would tell, for
// everybody, but no finer than some ten times a second. Times are by the host's clock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "injector/counters/counter_sets.h"
#include "machine/nvml_library.h"

namespace traceinject {

// NVIDIA's advice: samples at least so far apart.
inline constexpr std::int64_t kLeastGpmPeriodNs = 100'000'000;

class GpmSession {
 public:
  // Both outlive this. `now`: the clock of the samples.
  GpmSession(const NvmlLibrary& nvml, nvml::Device device) : nvml_(nvml), device_(device) {}
  ~GpmSession() { Close(); }
  GpmSession(const GpmSession&) = delete;
  GpmSession& operator=(const GpmSession&) = delete;

  // Whether the card and the driver have it.
  bool Open();
  // The counters that the card knows, in the order of Take()'s values; known after the first
  // Take().
  struct Taken {
    std::int64_t start = 0, end = 0;
    std::vector<std::int64_t> values;  // of all of GpmMetrics(), in the counters' unit; -1: unknown
  };
  // What was since the last call; nothing at the first one, after Rest(), or if NVML fails
  // (*failed).
  std::optional<Taken> Take(std::int64_t (*now)(), bool* failed);
  // The next sample does not reach back to the last one.
  void Rest() { has_before_ = false; }
  void Close();

 private:
  bool ReadMetrics(std::vector<std::int64_t>* values);

  const NvmlLibrary& nvml_;
  const nvml::Device device_;
  nvml::GpmSample before_ = nullptr, after_ = nullptr;
  bool has_before_ = false;
  std::int64_t before_ns_ = 0;
};

}  // namespace traceinject
