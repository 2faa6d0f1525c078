// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/sample_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "schemas/counters.h"

namespace traceinject {
namespace {

std::int32_t Clamped(std::int64_t value) {
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(value, std::numeric_limits<std::int32_t>::max()));
}

// Adds the row that `points` make; one without a point is left out.
void Add(std::vector<SampleSeries>& all, const std::string& label, const std::string& unit,
         CounterPoints points, TimeNs end) {
  if (points.time.empty()) return;
  CounterSeries series(std::move(points), end);
  const CounterRange range = series.Range(series.start(), series.end());
  const std::string values = range.least == range.most
                                 ? fmt::format("{} {}", range.most, unit)
                                 : fmt::format("{} to {} {}", range.least, range.most, unit);
  all.push_back({label, values, std::move(series)});
}

// Samples that report nothing (-1) leave the value before them; two of one moment are one.
template <typename Column>
CounterPoints Points(const std::vector<TimeNs>& time, const Column& values, std::int64_t unit) {
  CounterPoints points;
  for (std::size_t i = 0; i < time.size(); ++i) {
    const bool again = i > 0 && time[i] == time[i - 1];
    if (values[i] >= 0 && !again) points.Add(time[i], Clamped(values[i] / unit));
  }
  return points;
}

constexpr CounterId kMainCounters[] = {CounterId::kSmActive, CounterId::kTensorActive,
                                       CounterId::kDram};

// Where samples are missing it is 0.
CounterPoints PointsOfCounter(const CounterSamples& samples, const CounterColumn& column,
                              std::int64_t unit) {
  CounterPoints points;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (column.value[i] >= 0) points.Add(samples.start[i], Clamped(column.value[i] / unit));
    const bool goes_on = i + 1 < samples.size() && samples.start[i + 1] <= samples.end[i];
    if (!goes_on) points.Add(samples.end[i], 0);
  }
  return points;
}

// Use of processors by several threads or workers together, from what each had used up to its
// samples: between two of its samples each is taken to have worked evenly.
class CpuPoints {
 public:
  // By time. What one used before its first sample is not known.
  void Add(TimeNs time, std::uint32_t who, std::int64_t cpu_ns) {
    const auto [entry, fresh] = last_.try_emplace(who, Last{time, cpu_ns});
    const Last last = std::exchange(entry->second, {time, cpu_ns});
    // Less than before: another one of that number.
    if (fresh || time <= last.time || cpu_ns <= last.cpu_ns) return;
    const double percent =
        100.0 * static_cast<double>(cpu_ns - last.cpu_ns) / static_cast<double>(time - last.time);
    changes_.emplace_back(last.time, percent);
    changes_.emplace_back(time, -percent);
  }

  // O(n log n).
  CounterPoints Take() && {
    std::sort(changes_.begin(), changes_.end());
    CounterPoints points;
    double percent = 0;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      percent += changes_[i].second;
      const bool last_of_moment =
          i + 1 == changes_.size() || changes_[i + 1].first != changes_[i].first;
      if (last_of_moment) points.Add(changes_[i].first, Clamped(std::llround(percent)));
    }
    return points;
  }

 private:
  struct Last {
    TimeNs time;
    std::int64_t cpu_ns;
  };
  std::map<std::uint32_t, Last> last_;
  std::vector<std::pair<TimeNs, double>> changes_;
};

}  // namespace

std::vector<SampleSeries> DeviceSeries(const Rank& rank, const Device& device) {
  const DeviceSamples& samples = device.samples;
  const AllocatorSamples& allocator = device.allocator;
  std::vector<SampleSeries> all;
  const auto last = [](const std::vector<TimeNs>& time) { return time.empty() ? 0 : time.back(); };
  const TimeNs end = std::max({rank.end, last(samples.time), last(allocator.time)});
  const auto add = [&](const char* label, const char* unit, const auto& column,
                       std::int64_t divisor) {
    Add(all, label, unit, Points(samples.time, column, divisor), end);
  };
  const auto add_memory = [&](const char* label, const auto& column) {
    Add(all, label, "MiB", Points(allocator.time, column, 1 << 20), end);
  };
  add("SM clock", "MHz", samples.sm_clock_mhz, 1);
  add("memory clock", "MHz", samples.memory_clock_mhz, 1);
  add("power", "W", samples.power_mw, 1000);
  add("temperature", "C", samples.temperature_c, 1);
  add("utilization", "%", samples.sm_utilisation_pct, 1);
  add("memory used", "MiB", samples.memory_used_bytes, 1 << 20);
  add_memory("PyTorch allocated", allocator.allocated_bytes);
  add_memory("PyTorch active", allocator.active_bytes);
  add_memory("PyTorch reserved", allocator.reserved_bytes);
  return all;
}

std::vector<SampleSeries> HardwareCounterSeries(const Device& device, CounterChoice choice) {
  const CounterSamples& samples = device.counters;
  std::vector<SampleSeries> all;
  if (samples.size() == 0) return all;
  for (const CounterColumn& column : samples.columns) {
    const bool is_main = std::find(std::begin(kMainCounters), std::end(kMainCounters), column.id) !=
                         std::end(kMainCounters);
    if (is_main != (choice == CounterChoice::kMain)) continue;
    const CounterInfo& info = InfoOf(column.id);
    std::string label(info.name);
    std::replace(label.begin(), label.end(), '_', ' ');
    const bool is_share = info.unit == kPermille;
    Add(all, label, is_share ? "%" : std::string(info.unit),
        PointsOfCounter(samples, column, is_share ? 10 : 1), samples.end.back());
  }
  return all;
}

std::vector<SampleSeries> HostSeries(const Rank& rank) {
  std::vector<SampleSeries> all;
  CpuPoints threads, workers;
  const HostSamples& host = rank.host_samples;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host.cpu_ns[i] >= 0) threads.Add(host.time[i], host.thread[i], host.cpu_ns[i]);
  }
  const WorkerSamples& loaded = rank.worker_samples;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    if (loaded.cpu_ns[i] >= 0) workers.Add(loaded.time[i], loaded.worker[i], loaded.cpu_ns[i]);
  }
  const TimeNs end = std::max({rank.end, host.size() > 0 ? host.time.back() : rank.end,
                               loaded.size() > 0 ? loaded.time.back() : rank.end});
  Add(all, "CPU of all threads", "%", std::move(threads).Take(), end);
  Add(all, "CPU of data workers", "%", std::move(workers).Take(), end);
  return all;
}

}  // namespace traceinject
