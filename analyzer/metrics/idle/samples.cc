// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/samples.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/metrics/steps/steps.h"

namespace traceinject {
namespace {

struct Batches {
  std::int64_t count = 0, samples = 0;
  bool known = true;
};

}  // namespace

std::optional<SampleRate> CountSamples(const Rank& rank, Interval window) {
  std::vector<TimeNs> marks = MarksOfFirstOptimizer(rank.step_marks);
  std::erase_if(marks, [&](TimeNs time) { return time < window.start || time > window.end; });
  if (marks.size() < 2) return std::nullopt;
  const TimeNs first = marks.front(), last = marks.back();
  std::map<std::uint32_t, Batches> by_loader;
  const DataWaits& waits = rank.data_waits;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (waits.batch[i] < 0 || waits.end[i] <= first || waits.end[i] > last) continue;
    Batches& batches = by_loader[waits.loader[i]];
    ++batches.count;
    batches.known &= waits.samples[i] >= 0;
    batches.samples += std::max<std::int64_t>(0, waits.samples[i]);
  }
  const auto most = std::max_element(
      by_loader.begin(), by_loader.end(),
      [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
  if (most == by_loader.end() || !most->second.known || last == first) return std::nullopt;
  const auto samples = static_cast<double>(most->second.samples);
  return SampleRate{samples / static_cast<double>(marks.size() - 1),
                    samples / static_cast<double>(last - first) * 1e9};
}

}  // namespace traceinject
