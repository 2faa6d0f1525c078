// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/data_loading.h"

#include <algorithm>
#include <map>

namespace traceinject {
namespace {

// Samples of batches, as long as all are known.
class SampleSum {
 public:
  // batch -1: none came.
  void Add(std::int64_t batch, std::int64_t samples) {
    if (batch < 0) return;
    any_ = true;
    known_ &= samples >= 0;
    sum_ += std::max<std::int64_t>(0, samples);
  }
  std::optional<std::int64_t> sum() const {
    return any_ && known_ ? std::optional(sum_) : std::nullopt;
  }

 private:
  bool any_ = false, known_ = true;
  std::int64_t sum_ = 0;
};

// Of a cumulative column: how much it grew; empty: one of the ends is not known.
std::optional<std::int64_t> Growth(std::int64_t first, std::int64_t last) {
  return first >= 0 && last >= first ? std::optional(last - first) : std::nullopt;
}

// From the last sample before the window to the first one after it: they come seldom.
std::vector<WorkerUse> UseOfWorkers(const Rank& rank, Interval window) {
  std::vector<WorkerUse> uses(rank.workers.size());
  std::vector<bool> is_past(uses.size());
  std::vector<std::size_t> first(uses.size(), rank.worker_samples.size());
  const WorkerSamples& samples = rank.worker_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const std::uint32_t worker = samples.worker[row];
    if (worker >= uses.size() || is_past[worker]) continue;
    is_past[worker] = samples.time[row] >= window.end;
    if (first[worker] == samples.size() || samples.time[row] <= window.start) {
      first[worker] = row;
      continue;
    }
    WorkerUse& use = uses[worker];
    use.observed_ns = samples.time[row] - samples.time[first[worker]];
    use.cpu_ns = Growth(samples.cpu_ns[first[worker]], samples.cpu_ns[row]);
    use.read_bytes = Growth(samples.read_bytes[first[worker]], samples.read_bytes[row]);
    use.looks += samples.states[row];
    use.looks_disk += samples.states_disk[row];
  }
  for (std::uint32_t worker = 0; worker < uses.size(); ++worker) uses[worker].worker = worker;
  std::erase_if(uses, [&](const WorkerUse& use) {
    const Worker& worker = rank.workers[use.worker];
    return worker.start >= window.end || worker.end <= window.start;
  });
  return uses;
}

}  // namespace

std::vector<StepWaits> WaitsInSteps(const Rank& rank, const Steps& steps) {
  std::vector<StepWaits> found(steps.steps.size());
  std::vector<SampleSum> samples(found.size());
  const DataWaits& waits = rank.data_waits;
  const auto step_at = [&](TimeNs time) {  // the first that ends after it
    return static_cast<std::size_t>(
        std::partition_point(steps.steps.begin(), steps.steps.end(),
                             [&](const Step& step) { return step.time.end <= time; }) -
        steps.steps.begin());
  };
  for (std::size_t row = 0; row < waits.size(); ++row) {
    const TimeNs start = waits.start[row];
    const TimeNs end = waits.end[row];
    for (std::size_t i = step_at(start); i < found.size() && steps.steps[i].time.start < end; ++i) {
      const Interval step = steps.steps[i].time;
      if (start >= step.start) ++found[i].waits;
      found[i].wait_ns += std::min(end, step.end) - std::max(start, step.start);
      if (end <= step.end) samples[i].Add(waits.batch[row], waits.samples[row]);
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) found[i].samples = samples[i].sum();
  return found;
}

std::vector<LoaderUse> UseOfLoaders(const Rank& rank, Interval window) {
  std::map<std::uint32_t, LoaderUse> uses;  // kNone is the last
  std::map<std::uint32_t, SampleSum> samples;
  const DataWaits& waits = rank.data_waits;
  for (std::size_t row = 0; row < waits.size(); ++row) {
    const Interval inside{std::max(waits.start[row], window.start),
                          std::min(waits.end[row], window.end)};
    if (inside.end <= inside.start) continue;
    LoaderUse& use = uses[waits.loader[row]];
    ++use.waits;
    use.wait_ns += inside.end - inside.start;
    use.longest_ns = std::max(use.longest_ns, inside.end - inside.start);
    if (waits.end[row] <= window.end)
      samples[waits.loader[row]].Add(waits.batch[row], waits.samples[row]);
  }
  for (const WorkerUse& worker : UseOfWorkers(rank, window))
    uses[rank.workers[worker.worker].loader].workers.push_back(worker);
  std::vector<LoaderUse> list;
  for (auto& [loader, use] : uses) {
    use.loader = loader;
    use.samples = samples[loader].sum();
    list.push_back(std::move(use));
  }
  return list;
}

}  // namespace traceinject
