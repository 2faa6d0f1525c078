// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/device_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "analyzer/common/parallel.h"
#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/metrics/gpu/sm_rates.h"
#include "analyzer/metrics/idle/process_label.h"
#include "analyzer/metrics/kernels/kernel_work.h"
#include "analyzer/metrics/kernels/step_flops.h"
#include "analyzer/metrics/links/match_collectives.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/calls/library_calls.h"

namespace traceinject {
namespace {

std::string LabelOf(const Run& run, const Rank& rank, const Device& device) {
  if (!rank.rank && run.ranks.size() == 1) return fmt::format("GPU {}", device.ordinal);
  return fmt::format("{} GPU {}", ProcessLabel(run, rank), device.ordinal);
}

// Each passes over all events of the device. Stopped: some are left out.
void RunPasses(std::vector<std::function<void()>> passes, StopFlag stop) {
  for (std::function<void()>& pass : passes) {
    pass = [stop, run = std::move(pass)] {
      if (!IsStopped(stop)) run();
    };
  }
  RunInParallel(passes);
}

// The recorded time is that of the process, unless a part of it was chosen.
void DivideTime(DeviceFigures& found) {
  if (found.steps.source == StepSource::kWindow || found.steps.count_regular() == 0) return;
  const Interval window = found.window.time;
  const Interval recorded = found.window.restricted
                                ? window
                                : Interval{std::min(found.rank->start, window.start),
                                           std::max(found.rank->end, window.end)};
  found.run_time = DivideRunTime(*found.rank, found.steps, found.kinds, found.causes, recorded);
  found.host_waits = ExplainHostWaits(found);
}

// What is reported on, and where its steps end if that was asked to find out.
struct ChosenPart {
  Window window;
  std::optional<StepCuts> cuts = std::nullopt;
};

// Steps, what the host did, and the operations of NCCL: what figures rest on.
void FindGrounds(const std::optional<StepCuts>& cuts, const ReportOptions& options,
                 bool with_timeline, DeviceFigures& found) {
  const Rank& rank = *found.rank;
  const Device& device = *found.device;
  RunPasses({
                [&] {
                  found.steps = StepsIn(
                      rank, device, cuts ? *cuts : FindStepCuts(rank, device, options.pattern()),
                      found.window.time);
                  found.kinds = KindsOfSteps(rank, device, found.steps);
                  if (found.steps.source != StepSource::kWindow)
                    JudgeSteps(UsualSteps(found.kinds, found.steps), found.steps);
                },
                [&] {
                  if (with_timeline) found.timeline = BuildHostTimeline(rank, device);
                },
                [&] { found.nccl = LinkNccl(rank, device); },
                [&] {
                  found.join =
                      CountJoins(rank, device.ops, StartingIn(device.ops, found.window.time));
                },
            },
            options.stop);
}

// All that depends on which steps are judged.
void Measure(const LibraryCalls& calls, const ReportOptions& options, Depth depth,
             DeviceFigures& found) {
  const Rank& rank = *found.rank;
  const Device& device = *found.device;
  found.times = options.all || found.uncertain ? Intervals() : found.steps.judged_times();
  if (found.times.empty()) found.times = {found.window.time};
  found.ranges = StartingIn(device.ops, found.times);
  const std::optional<double> rated_mhz = RatedSmClockMhz(device, PeakDtype::kBf16);
  // The longest first, so that none is left over for one processor.
  RunPasses(
      {
          [&] {
            found.kernels = {};
            found.kernels.Add(rank, device, found.ranges,
                              MeasureKernelWork(rank, device, calls, found.ranges));
          },
          [&] {
            found.kernel_counters = AttributeCounters(rank, device, found.times, rated_mhz);
            found.counters = MeanCounters(device, found.times, rated_mhz);
          },
          [&] { found.compute = DivideComputeTime(rank, device, calls, found.times); },
          [&] {
            found.products = CountMatrixProducts(rank, device, calls, found.ranges, found.times);
          },
          [&] { found.step_flops = FlopsOfSteps(rank, device, calls, found.steps); },
          [&] { found.gaps = FindGaps(device.ops, rank.api, found.times, options.longest_gaps); },
          [&] { found.attention = CountAttention(rank, device, calls, found.ranges, found.times); },
          [&] {
            SweptDevice swept = SweepDevice(device, found.times);
            found.partition = swept.partition;
            found.telemetry = std::move(swept.telemetry);
          },
          [&] {
            if (depth == Depth::kCauses)
              found.queue = SummarizeQueue(rank, device, found.steps.judged_times());
          },
          [&] { found.copies = CountCopies(rank, device.ops, found.ranges, found.times); },
          [&] { found.comm_kernels = CountCommKernels(rank, device.ops, found.ranges); },
          [&] { found.memory = CountMemoryCalls(rank, device.ordinal, found.times); },
          [&] { found.samples = CountSamples(rank, found.hull()); },
      },
      options.stop);
  found.host_link = HostLinkOf(device, found.telemetry);
  found.busy_by_rated.reset();
  if (rated_mhz && found.telemetry && found.telemetry->busy_sm_clock_mhz)
    found.busy_by_rated = *found.telemetry->busy_sm_clock_mhz / *rated_mhz;
  // Of FLOPs it is known only in the judged steps.
  std::optional<double> counted;
  if (found.step_flops && !options.all && !found.uncertain) counted = found.step_flops->peak_share;
  found.measured_hfu =
      MeasureHfu(rank, device, calls, found.ranges, found.partition.wall_ns,
                 {found.counters, found.kernel_counters, counted, found.busy_by_rated});
  found.findings = FindInKernels(rank, device, found.kernels.Finish(), found.products);
}

// Empty if it was stopped.
std::optional<DeviceFigures> Analyze(const Rank& rank, const Device& device,
                                     const LibraryCalls& calls, const ChosenPart& chosen,
                                     const ReportOptions& options, Depth depth) {
  const bool with_causes = depth == Depth::kCauses;
  DeviceFigures found;
  found.rank = &rank;
  found.device = &device;
  found.window = chosen.window;
  FindGrounds(chosen.cuts, options, with_causes || options.gap_causes, found);
  if (IsStopped(options.stop)) return std::nullopt;
  Measure(calls, options, depth, found);
  RunPasses({[&] {
               if (with_causes)
                 found.causes = SplitSteps(rank, device, found.timeline, found.steps);
             },
             [&] {
               if (options.gap_causes)
                 found.idle = ExplainIdle(rank, device, found.timeline, found.steps, found.hull());
             },
             [&] {
               if (with_causes) found.places = FindDevicePlaces(found, options.site);
             }},
            options.stop);
  if (IsStopped(options.stop)) return std::nullopt;
  if (with_causes) DivideTime(found);
  return found;
}

std::string NoWorkNote(const std::string& label, const traceinject::Device& device, TimeNs origin,
                       const TimeLimits& limits) {
  if (!limits.from_ns && !limits.to_ns)
    return WithDetail(label, device.name) + ": its operations took no measurable time.";
  const Interval span = *GpuSpan(device.ops);
  return fmt::format("{} did no GPU work in the selected time; its work lies between {} and {}.",
                     WithDetail(label, device.name), FormatTime(span.start - origin),
                     FormatTime(span.end - origin));
}

// From the first to the last of the chosen steps; empty if the device has not all of them, with the
// reason in `note`.
std::optional<ChosenPart> PartOfSteps(const Rank& rank, const Device& device, const Window& all,
                                      const ReportOptions& options, const std::string& label,
                                      std::string& note) {
  const StepChoice& chosen = *options.steps;
  StepCuts step_cuts = FindStepCuts(rank, device, options.pattern());
  const Steps found = StepsIn(rank, device, step_cuts, all.time);
  if (found.source == StepSource::kWindow) {
    note = WithDetail(label, device.name) +
           ": fewer than three steps were found, so none can be selected.";
    return std::nullopt;
  }
  const std::int64_t first = found.number(0), last = found.number(found.steps.size() - 1);
  if (chosen.first < first || chosen.last > last) {
    note = fmt::format("{} has steps {} to {} (from {}){}, not the selected {} to {}.",
                       WithDetail(label, device.name), first, last, StepSourceName(found.source),
                       device.ops.planned_gaps.empty() ? "" : " in the selected part", chosen.first,
                       chosen.last);
    return std::nullopt;
  }
  const std::vector<TimeNs> cuts = found.cuts();
  const auto row = static_cast<std::size_t>(chosen.first - first);
  const auto end = static_cast<std::size_t>(chosen.last - first) + 1;
  return ChosenPart{
      {{std::max(all.time.start, cuts[row]), std::min(all.time.end, cuts[end])}, true},
      std::move(step_cuts)};
}

// Empty if the user's pattern finds steps, or there is none.
std::string PatternNote(const Rank& rank, const Device& device, const ReportOptions& options,
                        const std::string& label) {
  if (options.pattern() == nullptr) return "";
  const auto found = FindStepRanges(rank, *GpuSpan(device.ops), options.pattern());
  const std::size_t ranges = found ? found->ranges.size() : 0;
  if (ranges >= kMinSteps) return "";
  return fmt::format("{}: '{}' matches {} NVTX ranges; at least three are needed.",
                     WithDetail(label, device.name), options.pattern()->text(), ranges);
}

// Empty: nothing of the device is reported on, for the reason in `note`.
std::optional<ChosenPart> ChoosePart(const Rank& rank, const Device& device, TimeNs origin,
                                     const ReportOptions& options, const std::string& label,
                                     std::string& note) {
  std::optional<Window> window = DeviceWindow(device.ops, origin, options.limits);
  if (!window) note = NoWorkNote(label, device, origin, options.limits);
  if (window && !options.limits.from_ns && !options.limits.to_ns)
    window = ReportedPart(device.ops, *window);
  if (!window) return std::nullopt;
  if (!options.steps) return ChosenPart{*window};
  return PartOfSteps(rank, device, *window, options, label, note);
}

}  // namespace

std::deque<DeviceFigures> AnalyzeDevices(const Run& run, TimeNs origin,
                                         const ReportOptions& options, Depth depth,
                                         std::vector<std::string>& notes) {
  std::deque<DeviceFigures> devices;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    std::optional<LibraryCalls> calls;  // of the rank, once a device needs them
    for (const Device& device : run.ranks[i].devices) {
      if (device.ops.size() == 0) continue;
      const std::string label = LabelOf(run, run.ranks[i], device);
      std::string note;
      const std::optional<ChosenPart> chosen =
          ChoosePart(run.ranks[i], device, origin, options, label, note);
      if (const std::string unmatched = PatternNote(run.ranks[i], device, options, label);
          !unmatched.empty())
        notes.push_back(unmatched);
      if (!chosen) {
        notes.push_back(note);
        continue;
      }
      if (!calls) calls.emplace(run.ranks[i]);
      auto found = Analyze(run.ranks[i], device, *calls, *chosen, options, depth);
      if (!found) return devices;
      devices.push_back(*std::move(found));
      devices.back().rank_index = i;
      devices.back().label = label;
    }
  }
  return devices;
}

void MeasureWhole(DeviceFigures& found, const ReportOptions& options, Depth depth) {
  found.uncertain = true;
  Measure(LibraryCalls(*found.rank), options, depth, found);
}

void JudgeOtherSteps(DeviceFigures& found, const std::vector<bool>& judged,
                     const ReportOptions& options) {
  JudgeSteps(judged, found.steps);
  Measure(LibraryCalls(*found.rank), options, Depth::kCauses, found);
  if (options.gap_causes)
    found.idle = ExplainIdle(*found.rank, *found.device, found.timeline, found.steps, found.hull());
  if (found.places) found.places = FindDevicePlaces(found, options.site);
}

void MatchRanks(std::deque<DeviceFigures>& devices, std::vector<std::string>& notes) {
  std::vector<NcclMember> members;
  for (DeviceFigures& found : devices) members.push_back({found.rank, &found.nccl});
  for (std::string& note : EstimateTransfers(members)) notes.push_back(std::move(note));
}

}  // namespace traceinject
