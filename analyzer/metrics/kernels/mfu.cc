// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/mfu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/metrics/gpu/sm_rates.h"
#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

bool Positive(std::optional<double> value) { return value && std::isfinite(*value) && *value > 0; }

// Each of these fills its part of the result, or gives the reason why it cannot.
using Reason = std::optional<std::string>;

Reason SetFlops(const MfuOptions& options, Mfu& mfu) {
  if (options.flops_per_step) {
    if (!Positive(options.flops_per_step)) return "FLOPs per step must be a positive number";
    mfu.flops_per_step = options.flops_per_step;
    mfu.convention = "FLOPs per step, as given";
    return std::nullopt;
  }
  if (!options.params) return "tokens per step also require the number of parameters (--params)";
  if (!options.tokens_per_step)
    return "the number of parameters also requires tokens per step (--tokens-per-step)";
  if (!Positive(options.params) || !Positive(options.tokens_per_step)) {
    return "parameters and tokens per step must be positive numbers";
  }
  mfu.flops_per_step = 6 * *options.params * *options.tokens_per_step;
  mfu.convention = "6ND (6 x parameters x tokens), no attention term, no recomputation";
  return std::nullopt;
}

// From the first to the last of what was added, on the host where that took longest.
class LongestByHost {
 public:
  void Add(const Rank& rank, Interval time) {
    // A process whose host is not known may be on one of its own.
    const std::string_view host = rank.process.host.empty() ? rank.path : rank.process.host;
    const auto [entry, is_new] = by_host_.try_emplace(host, time);
    if (is_new) return;
    entry->second.start = std::min(entry->second.start, time.start);
    entry->second.end = std::max(entry->second.end, time.end);
  }
  TimeNs length_ns() const {
    TimeNs longest = 0;
    for (const auto& [host, time] : by_host_) longest = std::max(longest, time.end - time.start);
    return longest;
  }

 private:
  std::map<std::string_view, Interval> by_host_;
};

// From the start of the first to the end of the last GPU operation that was launched in `host`. The
// host runs ahead of the GPU, so its own ranges may end long before the work of their steps does.
std::optional<Interval> GpuTimeOf(const Rank& rank, Interval host) {
  Interval span{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
  for (const Device& device : rank.devices) {
    for (std::size_t op = 0; op < device.ops.size(); ++op) {
      const std::uint32_t launch = device.ops.launch[op];
      if (launch == kNone) continue;
      const TimeNs launched = rank.api.start[launch];
      if (launched < host.start || launched >= host.end) continue;
      span.start = std::min(span.start, device.ops.start[op]);
      span.end = std::max(span.end, device.ops.end[op]);
    }
  }
  if (span.end <= span.start) return std::nullopt;
  return span;
}

// The judged steps of a device.
struct JudgedSteps {
  std::int64_t count = 0;
  TimeNs time_ns = 0;
  std::string source;

  double mean_ns() const { return static_cast<double>(time_ns) / static_cast<double>(count); }
};

// Of the device with the longest ones, as the steps of a job take the same time on all: what others
// wait for it may lie outside of theirs. `told`: only those that the program told of; without,
// those found in its work, which may be parts of steps. Empty: no device has three.
std::optional<JudgedSteps> SlowestSteps(const std::vector<MfuDevice>& devices, bool told) {
  std::optional<JudgedSteps> slowest;
  for (const MfuDevice& at : devices) {
    const Steps& found = *at.steps;
    const bool is_told = found.source == StepSource::kMarks || found.source == StepSource::kRanges;
    if (found.few() || is_told != told) continue;
    JudgedSteps judged;
    judged.count = static_cast<std::int64_t>(found.count_judged());
    judged.time_ns = Length(found.judged_times());
    if (judged.count == 0) continue;
    judged.source = found.source == StepSource::kRanges
                        ? fmt::format("NVTX ranges {}", found.pattern)
                        : std::string(StepSourceName(found.source));
    if (const auto left = static_cast<std::int64_t>(found.steps.size()) - judged.count; left > 0)
      judged.source += fmt::format("; {} left out", left);
    if (!slowest || judged.mean_ns() > slowest->mean_ns()) slowest = std::move(judged);
  }
  return slowest;
}

void TakeSteps(JudgedSteps judged, Mfu& mfu) {
  mfu.steps = judged.count;
  mfu.window_ns = judged.time_ns;
  mfu.steps_source = std::move(judged.source);
}

// The number of steps and the time that they took on the GPUs.
Reason SetSteps(const Run& run, const std::vector<MfuDevice>& devices, Interval gpu_span,
                Interval window, const MfuOptions& options, const StepPattern* pattern, Mfu& mfu) {
  if (options.steps) {
    if (*options.steps <= 0) return "the number of steps must be positive";
    mfu.steps = options.steps;
    mfu.steps_source = "as given";
    return std::nullopt;
  }
  if (std::optional<JudgedSteps> judged = SlowestSteps(devices, true)) {
    TakeSteps(std::move(*judged), mfu);
    return std::nullopt;
  }
  std::optional<StepCount> fewest;
  std::int64_t most = 0;
  LongestByHost gpu;
  for (const Rank& rank : run.ranks) {
    std::optional<StepCount> count = CountSteps(rank, gpu_span, window, pattern);
    if (!count) continue;
    most = std::max(most, count->steps);
    if (const std::optional<Interval> span = GpuTimeOf(rank, count->host)) gpu.Add(rank, *span);
    if (!fewest || count->steps < fewest->steps) fewest = std::move(count);
  }
  if (!fewest) {
    std::optional<JudgedSteps> found = SlowestSteps(devices, false);
    if (!found)
      return "the number of steps is unknown: none were found, and no NVTX range is named like a "
             "step; set it with --step-count";
    TakeSteps(std::move(*found), mfu);
    return std::nullopt;
  }
  if (fewest->steps == 0) return fmt::format("no step ({}) in the window", fewest->pattern);
  if (gpu.length_ns() <= 0) return "no GPU work was launched inside the step ranges";
  mfu.steps = fewest->steps;
  mfu.window_ns = gpu.length_ns();
  mfu.steps_source = fmt::format("NVTX ranges {}", fewest->pattern);
  if (most != fewest->steps)
    mfu.steps_source += fmt::format(" ({} to {} across ranks: smallest used)", fewest->steps, most);
  return std::nullopt;
}

// Each card once: processes of one rank, or ranks, may share one.
std::vector<MfuDevice> DistinctCards(const std::vector<MfuDevice>& devices) {
  std::vector<MfuDevice> cards;
  std::set<std::string_view> seen;
  for (const MfuDevice& at : devices) {
    if (at.device->uuid.empty() || seen.insert(at.device->uuid).second) cards.push_back(at);
  }
  return cards;
}

// A recording of some ranks of a job still knows how many there are; each is taken to drive as many
// GPUs as the recorded ones.
int DevicesOfJob(const Run& run, int recorded) {
  int world = 0, unnumbered = 0;
  std::set<int> numbers;  // a rank may have several processes
  for (const Rank& rank : run.ranks) {
    world = std::max(world, rank.process.world_size.value_or(0));
    rank.rank ? static_cast<void>(numbers.insert(*rank.rank)) : static_cast<void>(++unnumbered);
  }
  const int ranks = static_cast<int>(numbers.size()) + unnumbered;
  if (ranks == 0 || world <= ranks) return recorded;
  return static_cast<int>(std::llround(static_cast<double>(recorded) * world / ranks));
}

Reason SetPeak(const std::vector<MfuDevice>& devices, const MfuOptions& options, Mfu& mfu) {
  if (options.peak_tflops) {
    if (!Positive(options.peak_tflops)) return "the peak rate must be a positive number";
    mfu.peak_tflops_per_device = options.peak_tflops;
    mfu.peak_source = "as given";
    return std::nullopt;
  }
  const PeakDtype dtype = options.peak_dtype;
  double sum = 0;
  std::set<std::string> sources;
  for (const MfuDevice& at : devices) {
    const std::string& name = at.device->name;
    const GpuSpec* spec = FindGpuSpec(name);
    if (spec == nullptr) return UnknownPeakText(name);
    const std::optional<double> peak = PeakTflops(*spec, dtype);
    if (!peak) {
      return fmt::format("no {} peak rate is published for {} ({})", PeakDtypeName(dtype),
                         spec->title, spec->source);
    }
    sum += *peak;
    sources.insert(
        fmt::format("{}, {} dense ({})", spec->title, PeakDtypeName(dtype), spec->source));
  }
  mfu.peak_tflops_per_device = sum / static_cast<double>(devices.size());
  for (const std::string& source : sources)
    mfu.peak_source += (mfu.peak_source.empty() ? "" : "; ") + source;
  return std::nullopt;
}

Reason SetPercent(Mfu& mfu) {
  const double flops = *mfu.flops_per_step * static_cast<double>(*mfu.steps);
  const double seconds = static_cast<double>(mfu.window_ns) * 1e-9;
  mfu.achieved_tflops_per_device = flops / seconds / mfu.devices * 1e-12;
  const double percent = 100 * *mfu.achieved_tflops_per_device / *mfu.peak_tflops_per_device;
  if (percent > 100) {
    return fmt::format(
        "{:.1f} % of the peak is impossible: check the FLOPs per step, the number of steps ({}) "
        "and the type "
        "of the peak",
        percent, *mfu.steps);
  }
  mfu.percent = percent;
  return std::nullopt;
}

// A GPU whose clock is held down, or above the one of the published rate, has another peak.
void SetPercentAtClock(const std::vector<MfuDevice>& cards, PeakDtype dtype, Mfu& mfu) {
  double busy = 0, rated = 0;
  for (const MfuDevice& at : cards) {
    const std::optional<double> clock = RatedSmClockMhz(*at.device, dtype);
    if (!clock || at.busy_sm_clock_mhz.value_or(0) <= 0) return;
    busy += *at.busy_sm_clock_mhz;
    rated += *clock;
  }
  const double count = static_cast<double>(cards.size());
  mfu.busy_sm_clock_mhz = busy / count;
  mfu.rated_sm_clock_mhz = rated / count;
  mfu.percent_at_clock = *mfu.percent * rated / busy;
}

}  // namespace

Mfu ComputeMfu(const Run& run, const std::vector<MfuDevice>& devices, Interval gpu_span,
               Interval window, const MfuOptions& options, const StepPattern* pattern) {
  Mfu mfu;
  LongestByHost elapsed;
  for (const MfuDevice& at : devices) elapsed.Add(*at.rank, at.window);
  mfu.window_ns = elapsed.length_ns();
  const std::vector<MfuDevice> cards = DistinctCards(devices);
  mfu.devices = DevicesOfJob(run, static_cast<int>(cards.size()));
  Reason reason;
  if (!options.requested()) reason = "give --flops-per-step, or --params and --tokens-per-step";
  if (!reason && (devices.empty() || mfu.window_ns <= 0)) reason = "no GPU work in the window";
  if (!reason) reason = SetFlops(options, mfu);
  if (!reason) reason = SetSteps(run, devices, gpu_span, window, options, pattern, mfu);
  if (!reason) reason = SetPeak(cards, options, mfu);
  if (!reason) reason = SetPercent(mfu);
  // The clock of a rate that was given is not known.
  if (!reason && !options.peak_tflops) SetPercentAtClock(cards, options.peak_dtype, mfu);
  mfu.reason = reason.value_or("");
  return mfu;
}

}  // namespace traceinject
