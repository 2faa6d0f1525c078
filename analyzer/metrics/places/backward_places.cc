// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/backward_places.h"

#include <algorithm>

namespace traceinject {
namespace {

// Of a thread that runs none, a call's own stack is empty.
std::vector<bool> ThreadsWithPython(const Rank& rank) {
  std::vector<bool> with(rank.threads.size());
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.stack[row] != kNone && samples.thread[row] < with.size())
      with[samples.thread[row]] = true;
  }
  return with;
}

// Whether a thread launches at a moment: between two calls that are so close.
bool LaunchesAt(const std::vector<TimeNs>& launches, TimeNs time) {
  constexpr TimeNs kTogetherNs = 500'000;
  const auto after = std::upper_bound(launches.begin(), launches.end(), time);
  return after != launches.begin() && after != launches.end() &&
         *after - *(after - 1) <= kTogetherNs;
}

}  // namespace

TimeByPlace BackwardTimeByPlace(const Rank& rank, const Device& device,
                                const std::vector<LookRuns>& looks, std::uint32_t main,
                                const CodeSites& sites, const Intervals& times) {
  const std::vector<bool> with_python = ThreadsWithPython(rank);
  const GpuOps& ops = device.ops;
  PlaceTally tally;
  std::vector<TimeNs> launches;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    const std::uint32_t launch = ops.launch[row];
    if (launch == kNone || with_python[rank.api.thread[launch]] || !Contains(times, ops.start[row]))
      continue;
    tally.AddTime(ops.end[row] - ops.start[row]);
    launches.push_back(rank.api.start[launch]);
  }
  if (main == kNone || launches.empty()) return tally.Finish();
  std::sort(launches.begin(), launches.end());
  for (const LookRun& run : looks[main]) {
    if (run.stack == kNone) continue;
    LooksIn inside;
    for (const TimeNs time : {run.first, run.last}) inside.known += LaunchesAt(launches, time);
    if (run.looks == 1) inside.known = std::min<std::int64_t>(inside.known, 1);
    inside.looks = static_cast<double>(inside.known);
    if (inside.known > 0) tally.AddLooks(sites.Of(run.stack), inside);
  }
  return tally.Finish();
}

}  // namespace traceinject
