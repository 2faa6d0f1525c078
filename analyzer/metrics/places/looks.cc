// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/looks.h"

#include <algorithm>

namespace traceinject {

std::vector<LookRuns> LooksOfThreads(const Rank& rank) {
  std::vector<LookRuns> threads(rank.threads.size());
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.kind[row] != StackKind::kTimed || samples.thread[row] >= threads.size()) continue;
    threads[samples.thread[row]].push_back(
        {samples.time[row], samples.time[row] + samples.span[row],
         std::int64_t{samples.repeats[row]} + 1, samples.stack[row]});
  }
  return threads;
}

LooksIn LooksInside(const LookRun& run, Interval time) {
  const auto inside = [time](TimeNs moment) { return moment >= time.start && moment < time.end; };
  const bool first = inside(run.first), last = inside(run.last);
  const auto all = static_cast<double>(run.looks);
  if (first && last) return {all, run.looks};
  if (first || last) return {all / 2, 1};
  return {};
}

std::int64_t CountLooks(const LookRuns& runs) {
  std::int64_t looks = 0;
  for (const LookRun& run : runs) looks += run.looks;
  return looks;
}

}  // namespace traceinject
