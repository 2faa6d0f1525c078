// SPDX-License-Identifier: Apache-2.0
// What host threads did during an interval: CUDA calls, NVTX ranges, NCCL calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/metrics/idle/gaps.h"
#include "analyzer/metrics/idle/thread_rows.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct HostActivity {
  enum class Kind : std::uint8_t { kApi, kRange, kCollective };
  Kind kind = Kind::kApi;
  std::string name;              // function or range text
  std::int64_t count = 0;        // calls or ranges
  TimeNs overlap_ns = 0;         // merged, inside the interval
  std::uint32_t thread = kNone;  // index into Rank::threads
};

// Indexes the host events of one process by thread. The Rank must outlive it.
class HostActivities {
 public:
  // To be asked about times inside `times` only, and of them what is recorded is kept. O(events).
  HostActivities(const Rank& rank, Intervals times);

  // What the thread did: the calls with the largest overlap (up to three names), the innermost NVTX
  // range that covers all of the time, up to two other ranges, up to two NCCL functions; each group
  // by overlap. NCCL's own NVTX ranges count as collectives only. O(events that overlap).
  std::vector<HostActivity> During(std::uint32_t thread, Interval time) const;

  // During() for the launching thread in the part of the gap before the launch (all of the gap if
  // it was queued). If that thread recorded nothing then, the longest call of each other thread,
  // longest first, up to three. Empty if the launch is unknown.
  std::vector<HostActivity> During(const Gap& gap) const;

 private:
  std::vector<HostActivity> Calls(std::uint32_t thread, Interval time) const;
  std::vector<HostActivity> Ranges(std::uint32_t thread, Interval time) const;
  std::vector<HostActivity> Collectives(std::uint32_t thread, Interval time) const;
  std::vector<HostActivity> OtherThreads(std::uint32_t thread, Interval time) const;

  const Rank& rank_;
  const Intervals times_;
  ThreadRows api_, nvtx_, collectives_;
  std::vector<bool> nccl_domain_;  // per domain
};

// The gap in a sentence: its cause, what launched the operation after it, what the host did
// meanwhile.
std::string DescribeGap(const Rank& rank, const Gap& gap,
                        const std::vector<HostActivity>& activities);

}  // namespace traceinject
