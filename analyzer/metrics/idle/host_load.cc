// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/host_load.h"

#include <algorithm>
#include <unordered_map>

namespace traceinject {
namespace {

struct Span {
  TimeNs start = 0, end = 0;
  std::int64_t cpu_at_start_ns = 0, cpu_at_end_ns = 0;
};

}  // namespace

std::optional<double> LoadOfFeeders(const Rank& rank, const HostTimeline& timeline, Interval time) {
  const HostSamples& samples = rank.host_samples;
  std::unordered_map<std::uint32_t, Span> spans;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const std::uint32_t thread = samples.thread[row];
    const TimeNs at = samples.time[row];
    if (at < time.start || at >= time.end || samples.cpu_ns[row] < 0 ||
        thread >= timeline.feeders.size() || !timeline.feeders[thread])
      continue;
    const std::int64_t cpu_ns = samples.cpu_ns[row];
    Span& span = spans.try_emplace(thread, Span{at, at, cpu_ns, cpu_ns}).first->second;
    span.end = at;
    span.cpu_at_end_ns = cpu_ns;
  }
  std::optional<double> load;
  for (const auto& [thread, span] : spans) {
    if (span.end <= span.start) continue;
    load = load.value_or(0) + static_cast<double>(span.cpu_at_end_ns - span.cpu_at_start_ns) /
                                  static_cast<double>(span.end - span.start);
  }
  return load;
}

std::optional<double> ProcessorWaitOfFeeders(const Rank& rank, const HostTimeline& timeline,
                                             const Intervals& times) {
  constexpr double kLeastSampled = 0.5;
  const HostSamples& samples = rank.host_samples;
  struct Last {
    TimeNs time = 0;
    std::int64_t waited_ns = 0;
  };
  std::unordered_map<std::uint32_t, Last> last;
  std::unordered_map<std::uint32_t, TimeNs> sampled;
  double waited_ns = 0;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const std::uint32_t thread = samples.thread[row];
    if (samples.runqueue_ns[row] < 0 || thread >= timeline.feeders.size() ||
        !timeline.feeders[thread])
      continue;
    const Last now = {samples.time[row], samples.runqueue_ns[row]};
    const auto [before, is_first] = last.try_emplace(thread, now);
    if (!is_first && now.time > before->second.time) {
      const TimeNs inside = LengthInside(times, {before->second.time, now.time});
      sampled[thread] += inside;
      waited_ns += static_cast<double>(now.waited_ns - before->second.waited_ns) *
                   static_cast<double>(inside) /
                   static_cast<double>(now.time - before->second.time);
    }
    before->second = now;
  }
  TimeNs most_sampled = 0;
  for (const auto& [thread, ns] : sampled) most_sampled = std::max(most_sampled, ns);
  const TimeNs all = Length(times);
  if (most_sampled == 0 ||
      static_cast<double>(most_sampled) < kLeastSampled * static_cast<double>(all))
    return std::nullopt;
  return waited_ns * static_cast<double>(all) / static_cast<double>(most_sampled);
}

}  // namespace traceinject
