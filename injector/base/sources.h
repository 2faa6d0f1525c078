// SPDX-License-Identifier: Apache-2.0
// Which sources of events deliver, besides CUPTI: set from the options when recording begins, none
// once it ended and between the windows of a plan (window_plan.h). A source that is taken out of
// the set meanwhile rests until it is put back; what that saves is how its cost is measured
// (tests/gpu/cost/switch_sources.py).
#pragma once

#include <atomic>

#include "injector/options/options.h"

namespace traceinject {

enum class Source : unsigned {
  kSync = 1,               // wrappers of event and synchronize calls
  kGemm = 2,               // wrappers of GEMMs
  kDeviceSamples = 4,      // what NVML tells fast, many times a second
  kDeviceSlowSamples = 8,  // what NVML tells slowly, once a second
  kHostSamples = 16,       // threads, workers
  kStacks = 64,            // of Python, of all threads
  kCounters = 128,         // hardware counters of the GPU
  kProgram = 32,  // what the program tells: ranges, operations of NCCL, waits for data, ...
};

inline constinit std::atomic<unsigned> g_sources{0};

// Those that the options ask for.
unsigned SourcesOf(const Options& options);

inline bool Delivers(Source source) {
  return (g_sources.load(std::memory_order_relaxed) & static_cast<unsigned>(source)) != 0;
}

}  // namespace traceinject
