// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/stalls.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace traceinject {
namespace {

// As many as the recorder looks at.
constexpr std::size_t kMaxLaunches = 65'536;
// What ran is stored within two flushes, of a second each.
constexpr TimeNs kSettledNs = 3'000'000'000;

// Copies and memsets are left out: one of no bytes runs nothing.
bool Launches(ApiClass api_class) {
  return api_class == ApiClass::kLaunch || api_class == ApiClass::kGraphLaunch;
}

bool HasOperation(const Rank& rank, std::uint64_t correlation) {
  for (const Device& device : rank.devices) {
    for (const std::uint64_t id : device.ops.correlation) {
      if (id == correlation) return true;
    }
  }
  return false;
}

void FindLastOperation(const Rank& rank, Stall& stall) {
  TimeNs last = std::numeric_limits<TimeNs>::min();
  for (std::uint32_t device = 0; device < rank.devices.size(); ++device) {
    const GpuOps& ops = rank.devices[device].ops;
    for (std::uint32_t row = 0; row < ops.size(); ++row) {
      if (ops.end[row] > stall.time.start || ops.end[row] < last) continue;
      last = ops.end[row];
      stall.device = device;
      stall.last_op = row;
    }
  }
}

bool CuptiDidNotAnswer(const Rank& rank) {
  return std::any_of(rank.health.begin(), rank.health.end(), [](const HealthCounter& one) {
    return one.source == "cupti" && one.counter == "unanswered" && one.value != 0;
  });
}

// Calls of lower ids have run, or never will.
std::uint64_t FirstLaunch(const Rank& rank) {
  if (rank.graph_nodes.empty()) return rank.first_kept_call;
  // What a graph captured was launched without running: of older calls nothing can be said.
  std::uint64_t highest = 0;
  for (const Device& device : rank.devices) {
    for (const std::uint64_t id : device.ops.correlation) highest = std::max(highest, id);
  }
  return highest + 1;
}

// Rows of Rank::api that launched something of which there is no operation, in order.
std::vector<std::uint32_t> FindLaunches(const Rank& rank) {
  const ApiCalls& api = rank.api;
  const std::uint64_t first = FirstLaunch(rank);
  std::vector<std::uint32_t> launches;
  for (auto row = static_cast<std::uint32_t>(api.size());
       row-- > 0 && launches.size() < kMaxLaunches;) {
    if (Launches(rank.api_names[api.name[row]].api_class) && api.result[row] == 0 &&
        api.correlation[row] >= first)
      launches.push_back(row);
  }
  std::vector<std::uint64_t> carried;
  for (const Device& device : rank.devices) {
    for (const std::uint64_t id : device.ops.correlation) {
      if (id >= first) carried.push_back(id);
    }
  }
  std::sort(carried.begin(), carried.end());
  std::vector<std::uint32_t> outstanding;
  for (auto row = launches.rbegin(); row != launches.rend(); ++row) {
    if (!std::binary_search(carried.begin(), carried.end(), api.correlation[*row]))
      outstanding.push_back(*row);
  }
  return outstanding;
}

// Row of Rank::api; kNone: not known which. Calls of a group are launched by the end of the group.
std::uint32_t LaunchOf(const Rank& rank, std::uint32_t collective) {
  const Collectives& collectives = rank.collectives;
  if (const std::uint32_t plan = collectives.plan[collective];
      plan != kNone && rank.plans.launch[plan] != kNone)
    return rank.plans.launch[plan];
  const ApiCalls& api = rank.api;
  const auto first =
      std::lower_bound(api.start.begin(), api.start.end(), collectives.start[collective]);
  for (auto at = first; at != api.start.end() && *at < collectives.end[collective]; ++at) {
    const auto row = static_cast<std::uint32_t>(at - api.start.begin());
    if (api.thread[row] == collectives.thread[collective] &&
        rank.api_names[api.name[row]].api_class == ApiClass::kLaunch)
      return row;
  }
  return kNone;
}

// `launches`: as FindLaunches() finds them.
bool IsOutstanding(const Rank& rank, std::uint32_t collective,
                   const std::vector<std::uint32_t>& launches) {
  const std::uint32_t launch = LaunchOf(rank, collective);
  // One that did not return never launched.
  return launch == kNone ? rank.collectives.end[collective] == kOpen
                         : std::binary_search(launches.begin(), launches.end(), launch);
}

void FindCollective(const Rank& rank, Stall& stall) {
  for (std::uint32_t row = 0; row < rank.collectives.size(); ++row) {
    if (!IsOutstanding(rank, row, stall.launches)) continue;
    stall.collective = row;
    return;
  }
}

bool StallsAtEnd(const Rank& rank) {
  return std::any_of(rank.gaps.begin(), rank.gaps.end(),
                     [](const CaptureGap& gap) { return gap.stalled() && gap.end == kOpen; });
}

void FindHost(const Rank& rank, Stall& stall) {
  for (std::uint32_t row = 0; row < rank.host_spans.size(); ++row) {
    if (rank.host_spans.kind[row] == HostSpanKind::kGpuWait &&
        rank.host_spans.end[row] > stall.time.start)
      stall.waits.push_back(row);
  }
  for (std::uint32_t row = 0; row < rank.nvtx.size(); ++row) {
    if (rank.nvtx.end[row] == kOpen) stall.ranges.push_back(row);
  }
}

// What was called before may have run while nothing was recorded.
TimeNs EndOfLastGap(const Rank& rank) {
  TimeNs end = std::numeric_limits<TimeNs>::min();
  for (const CaptureGap& gap : rank.gaps) {
    if (!gap.stalled()) end = std::max(end, gap.end);
  }
  return end;
}

}  // namespace

std::vector<Stall> FindStalls(const Rank& rank) {
  std::vector<Stall> stalls;
  for (const CaptureGap& gap : rank.gaps) {
    if (!gap.stalled()) continue;
    Stall stall;
    stall.time = {gap.start, gap.end};
    FindLastOperation(rank, stall);
    if (gap.end == kOpen) {
      stall.launches = FindLaunches(rank);
      FindCollective(rank, stall);
      FindHost(rank, stall);
      stall.unanswered = CuptiDidNotAnswer(rank);
    }
    stalls.push_back(std::move(stall));
  }
  return stalls;
}

std::vector<std::uint32_t> FindHungCollectives(const Rank& rank) {
  const Collectives& collectives = rank.collectives;
  const std::vector<std::uint32_t> launches = FindLaunches(rank);
  // Where the recorder itself saw that nothing completed, it waited for long enough.
  const TimeNs before = StallsAtEnd(rank) ? kOpen : LastKnownTime(rank) - kSettledNs;
  const TimeNs recorded_from = EndOfLastGap(rank);
  std::vector<std::uint32_t> hung;
  std::set<std::uint32_t> goes_on;  // communicators of which a later operation was executed
  for (auto row = static_cast<std::uint32_t>(collectives.size()); row-- > 0;) {
    const std::uint32_t communicator = collectives.communicator[row];
    if (IsOutstanding(rank, row, launches)) {
      const TimeNs called = collectives.start[row];
      if (called >= recorded_from && called <= before && !goes_on.contains(communicator))
        hung.push_back(row);
    } else if (LaunchOf(rank, row) != kNone) {
      goes_on.insert(communicator);
    }
  }
  std::reverse(hung.begin(), hung.end());
  return hung;
}

TimeNs LastKnownTime(const Rank& rank) {
  const std::vector<TimeNs>& looks = rank.clocks.realtime;
  return looks.empty() ? rank.end : std::max(rank.end, looks.back());
}

OperationState StateOf(const Rank& rank, std::uint32_t collective) {
  const std::uint32_t launch = LaunchOf(rank, collective);
  if (launch == kNone)
    return rank.collectives.end[collective] == kOpen ? OperationState::kOutstanding
                                                     : OperationState::kUnknown;
  return HasOperation(rank, rank.api.correlation[launch]) ? OperationState::kCompleted
                                                          : OperationState::kOutstanding;
}

std::int64_t SequenceOf(const Rank& rank, std::uint32_t collective) {
  const std::uint32_t plan = rank.collectives.plan[collective];
  return plan == kNone ? -1 : rank.plans.sequence[plan];
}

std::uint32_t FindSameOrLast(const Rank& rank, std::uint64_t communicator_hash,
                             std::string_view function, std::int64_t sequence) {
  const Collectives& collectives = rank.collectives;
  for (auto row = static_cast<std::uint32_t>(collectives.size()); row-- > 0;) {
    const std::uint32_t communicator = collectives.communicator[row];
    if (communicator == kNone || rank.communicators[communicator].hash != communicator_hash ||
        rank.string(collectives.function[row]) != function)
      continue;
    if (sequence < 0 || SequenceOf(rank, row) <= sequence) return row;
  }
  return kNone;
}

}  // namespace traceinject
