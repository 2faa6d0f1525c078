// SPDX-License-Identifier: Apache-2.0
// A flame graph of host time: the stacks at which a thread was seen, put together from the
// outermost frame on, each with what the device did meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/metrics/places/gpu_states.h"

namespace traceinject {

using LooksByState = std::array<double, kGpuStates>;

struct FlameFrame {
  std::size_t depth = 0;        // 0: the outermost
  std::uint32_t place = kNone;  // index into Rank::places
  bool own = false;             // code of the program, not of a library
  double looks = 0;             // in the steps that are judged
  LooksByState states{};        // of these
};

struct HostFlame {
  std::uint32_t thread = kNone;  // of the rank
  double looks = 0;              // those without a Python frame, too
  LooksByState states{};
  std::vector<FlameFrame> frames;  // each before those that it called, of these the widest first
  std::size_t left_out = 0;        // frames that are too narrow or too deep
};

// How much is kept of a flame, and of how many threads.
struct FlameLimits {
  double least_share = 0.001;  // of the looks at the thread
  std::size_t depth = 100;
  std::size_t frames = 600;  // of a thread: the widest ones
  std::size_t threads = 6;
};

// The thread that launches first, then those with most looks. The analysis has its timeline and
// steps. O(looks + stacks * depth + operations + threads * calls).
std::vector<HostFlame> FindHostFlames(const DeviceAnalysis& judged, const FlameLimits& limits = {});

}  // namespace traceinject
