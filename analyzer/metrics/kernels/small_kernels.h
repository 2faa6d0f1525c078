// SPDX-License-Identifier: Apache-2.0
// Kernels that take hardly longer than launching them: many of those leave a GPU slow however busy
// it looks, and are what fusing and CUDA graphs remove.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Shorter ones are small: a launch takes the host and the GPU 5 to 10 us.
inline constexpr TimeNs kSmallKernelNs = 10'000;
// Shares of the kernel time from which small ones are worth a word: of themselves, or where most
// kernels start as soon as they are launched, so that the GPU waits for launches.
inline constexpr double kManySmallShare = 0.2, kWaitedForSmallShare = 0.05;

struct SmallKernels {
  struct Sum {
    std::int64_t kernels = 0;
    TimeNs total_ns = 0;
  };
  Sum small, all;                          // communication left out: it waits for other ranks
  std::int64_t launched = 0, at_once = 0;  // with a known launch; of these, within kSmallKernelNs
  std::map<std::string, Sum> by_name;      // of the small ones
  std::int64_t steps = 0;                  // in which they ran

  // Of the time of all kernels.
  double share() const;
  bool matter() const;
  // The names with most time, at most so many.
  std::vector<std::string> LeadingNames(std::size_t most) const;
  SmallKernels& operator+=(const SmallKernels& other);
};

// Of the kernels that begin in these times, which hold so many steps. O(n).
SmallKernels CountSmallKernels(const Rank& rank, const Device& device, const Intervals& times,
                               std::size_t steps);

}  // namespace traceinject
