// SPDX-License-Identifier: Apache-2.0
// NVTX ranges by name, with the GPU work that was launched inside them.
//
// An operation belongs to the ranges that were open on the thread of its launch call when that call
// began: to all of them in `total`, to the innermost (the last one that began) in `self`. Ranges of
// other threads do not count: what PyTorch's autograd threads launch in a backward pass belongs to
// ranges of those threads only.
//
// Of ranges of one name that nest, or overlap on a thread, what they share counts once in `total`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Sum of whole durations: parallel operations count twice.
struct LaunchedWork {
  TimeNs gpu_ns = 0;
  std::int64_t operations = 0, kernels = 0;

  LaunchedWork& operator+=(const LaunchedWork& other);
  LaunchedWork operator-(const LaunchedWork& other) const;
};

struct NvtxRangeWork {
  std::string name, domain;
  bool outside = false;    // no range: what was launched in none, or nobody knows where (two rows)
  std::int64_t count = 0;  // ranges
  TimeNs host_total_ns = 0, host_self_ns = 0;
  LaunchedWork total, self;
};

struct ProjectedDevice {
  const Device* device = nullptr;
  OpRanges ranges;  // the operations that count
  Intervals windows;
  bool restricted = false;  // the windows are not all of the recording
};

// Adds up the ranges of one or more processes.
class NvtxProjector {
 public:
  // Counted are ranges with operations that count; of those without any operation the ones that
  // begin in the windows, all if these are not restricted. Host time is that of the ranges counted;
  // a range whose end is unknown lasts until the recording ends.
  // O((ranges + operations) log (ranges + operations)).
  void Add(const Rank& rank, const std::vector<ProjectedDevice>& devices);
  // By GPU time, then by host time, largest first; the work outside of all ranges last, if there is
  // any, and that whose launch was not recorded. The `self` of all rows adds up to the work of the
  // devices.
  std::vector<NvtxRangeWork> Finish() const;

 private:
  std::map<std::pair<std::string, std::string>, NvtxRangeWork> ranges_;  // by domain and name
  LaunchedWork outside_, unknown_;
};

// What tells ranges of one kind from each other left out: numbers of steps ("step 12": "step N"),
// and what PyTorch's emit_nvtx adds to the names of operators ("aten::mm, seq = 7": "aten::mm").
std::string NvtxKindName(std::string_view text);

}  // namespace traceinject
