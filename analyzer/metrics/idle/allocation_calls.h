// SPDX-License-Identifier: Apache-2.0
// Calls of the CUDA functions that take memory or give it back, by function.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct AllocationCalls {
  std::string api;  // cudaMalloc, cudaFree, ...
  std::int64_t count = 0, failed = 0;
  TimeNs total_ns = 0, max_ns = 0;
  // Taken or given back, of the calls whose memory was recorded; empty: of none it was.
  std::optional<std::int64_t> bytes;
};

// Adds up the calls of one or more processes.
class AllocationCounter {
 public:
  // Those that begin in the windows. A call whose end is not known takes no time. O(calls + memory
  // operations).
  void Add(const Rank& rank, const Intervals& windows);
  // By time, largest first.
  std::vector<AllocationCalls> Finish() const;

 private:
  std::map<std::string, AllocationCalls> by_api_;
};

}  // namespace traceinject
