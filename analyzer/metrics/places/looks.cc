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

std::int64_t LooksInside(const LookRun& run, Interval time) {
  if (time.end <= time.start || run.first >= time.end || run.last < time.start) return 0;
  if (run.looks == 1 || run.last == run.first) return run.first >= time.start ? run.looks : 0;
  const double step =
      static_cast<double>(run.last - run.first) / static_cast<double>(run.looks - 1);
  // Of the looks 0, 1, ... those before a moment.
  const auto before = [&](TimeNs moment) -> std::int64_t {
    if (moment <= run.first) return 0;
    const auto passed =
        static_cast<std::int64_t>(static_cast<double>(moment - 1 - run.first) / step);
    return std::min(run.looks, passed + 1);
  };
  return (time.end > run.last ? run.looks : before(time.end)) - before(time.start);
}

std::int64_t CountLooks(const LookRuns& runs) {
  std::int64_t looks = 0;
  for (const LookRun& run : runs) looks += run.looks;
  return looks;
}

}  // namespace traceinject
