// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/savings/savings.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "analyzer/common/mean.h"
#include "analyzer/common/parallel.h"
#include "analyzer/metrics/cost/ab_steps.h"
#include "analyzer/metrics/cost/recorder_cost.h"
#include "analyzer/metrics/what_if/blocking_downloads.h"
#include "analyzer/metrics/what_if/bootstrap.h"
#include "analyzer/metrics/what_if/host_work.h"
#include "analyzer/metrics/what_if/pinned_uploads.h"
#include "analyzer/metrics/what_if/queue_switches.h"
#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/verdict/savings/between_steps.h"

namespace traceinject {
namespace {

// Of a step: where recording adds less, what it adds need not be known well.
constexpr double kShownRecording = 0.005;
// A launch cannot cost so many times what it costs elsewhere: what was measured is something else.
constexpr double kMaxFitted = 4;

struct Cause {
  std::string_view label;
  Scenario scenario;
  // Gap subtraction; empty: replay alone.
  std::function<TimeNs(const StepSplit&)> booked;
  // Replay alone, but no more than this: a host that runs ahead also hides what other causes cost.
  std::function<TimeNs(const StepSplit&)> limit = nullptr;
  // Replay alone, but no more than this, by step, beside that limit: what operations take less.
  std::vector<TimeNs> shorter = {};
};

std::function<TimeNs(const StepSplit&)> Idle(IdleCause cause) {
  return [cause](const StepSplit& split) { return split.idle(cause); };
}

TimeNs HostBusy(const StepSplit& split) {
  return split.idle(IdleCause::kLaunch) + split.idle(IdleCause::kPython);
}

std::shared_ptr<const std::vector<OpLength>> Shared(const std::vector<OpLength>& lengths) {
  return std::make_shared<const std::vector<OpLength>>(lengths);
}

// A graph also shortens the pauses between what was queued: that counts beside a host that is late,
// and no more than it. Where the host is not, nobody needs a graph.
std::vector<TimeNs> GraphSwitches(const DeviceAnalysis& judged) {
  std::vector<TimeNs> saved = SwitchesOverGraph(*judged.rank, *judged.device, judged.steps);
  for (std::size_t i = 0; i < saved.size(); ++i)
    saved[i] = std::min(saved[i], HostBusy(judged.causes.steps[i]));
  return saved;
}

// What each pass over the recording finds.
struct Passes {
  std::vector<KernelSaving> kernels;
  std::optional<Replay> replay;
  std::optional<HostWork> host;
  Intervals waits;  // of the host's work, around its waits
  BlockingDownloads downloads;
  std::vector<TimeNs> graph_switches;
  HiddenUploads hidden;
  TimeNs hand_over_ns = 0;
  RecorderCost cost;
};

// None needs what another finds; the longest come first.
void RunPasses(const DeviceAnalysis& judged, Passes& found) {
  const Rank& rank = *judged.rank;
  const Device& device = *judged.device;
  RunInParallel({
      [&] { found.kernels = FindKernelSavings(rank, device, judged.steps, kFloorShare); },
      [&] {
        found.host.emplace(rank, judged.timeline);
        found.waits = found.host->OfWaits();
      },
      [&] { found.cost = RecorderCostOf(rank); },
      [&] { found.graph_switches = GraphSwitches(judged); },
      [&] { found.replay.emplace(rank, device, judged.timeline, judged.causes, judged.steps); },
      [&] { found.hidden = HidePinnedUploads(rank, device, judged.steps); },
      [&] {
        found.downloads =
            FindBlockingDownloads(rank, device, judged.timeline, judged.steps, PinnedRate(judged));
      },
      [&] { found.hand_over_ns = HandOverOf(rank, device.ops, judged.steps); },
  });
}

// What the program fetches it could fetch later, from pinned memory.
Cause Synchronizing(Passes& passes) {
  Scenario scenario = Scenario::Without(IdleCause::kSync);
  if (!passes.downloads.lengths.empty()) scenario.lengths = Shared(passes.downloads.lengths);
  if (!passes.waits.empty())
    scenario.gone = std::make_shared<const Intervals>(std::move(passes.waits));
  return {"sync_bound", scenario, nullptr,
          [](const StepSplit& split) {
            return split.idle(IdleCause::kSync) + split.idle(IdleCause::kDrainedBySync) +
                   split.idle(IdleCause::kCopy) + HostBusy(split);
          },
          std::move(passes.downloads.saved_ns)};
}

// Fewer kernels: where the host is late, fewer launches are what it gets back, too. That counts
// beside kernels that get shorter, and no more than that: where launches are most of what goes, it
// is not the kernels that limit the run but launching them.
Cause FewerKernels(const DeviceAnalysis& judged, const KernelSaving& saving, const HostWork& host) {
  Scenario scenario;
  scenario.lengths = Shared(saving.lengths);
  std::vector<TimeNs> most = saving.saved_ns;
  if (!saving.gone.empty()) {
    const Intervals gone = host.OfCalls(saving.gone);
    for (std::size_t i = 0; i < most.size(); ++i)
      most[i] +=
          std::min({LengthInside(gone, judged.steps.steps[i].time),
                    HostBusy(judged.causes.steps[i]), std::max<TimeNs>(0, saving.saved_ns[i])});
    scenario.gone = std::make_shared<const Intervals>(gone);
  }
  return {saving.label, scenario, nullptr, nullptr, std::move(most)};
}

std::vector<Cause> Causes(const DeviceAnalysis& judged, Passes& passes) {
  std::vector<Cause> causes = {
      {"dataloader", Scenario::Without(IdleCause::kDataWait),
       [hand_over_ns = passes.hand_over_ns](const StepSplit& split) {
         const TimeNs idle = split.idle(IdleCause::kDataWait);
         return idle - HandOver(idle, hand_over_ns);
       }},
      Synchronizing(passes),
      // Freeing drains the queue as a synchronization does: what comes after is later, too.
      {"allocator", Scenario::Without(IdleCause::kAllocator), nullptr,
       [](const StepSplit& split) { return split.idle(IdleCause::kAllocator) + HostBusy(split); }},
      {"checkpoint", Scenario::Without(IdleCause::kCheckpoint), nullptr},
      {"gc_pause", Scenario::Without(IdleCause::kGc), Idle(IdleCause::kGc)},
      {kHostWaitLabel, Scenario::Without(IdleCause::kHostWait), Idle(IdleCause::kHostWait)},
  };
  Scenario launching;
  launching.without_launching = true;
  causes.push_back(
      {"launch_bound", launching, nullptr, HostBusy, std::move(passes.graph_switches)});
  // First what is pageable is pinned; what is pinned can go beside the step before.
  Scenario uploaded;
  uploaded.upload_rate = PinnedRate(judged);
  if (!passes.hidden.lengths.empty()) uploaded.lengths = Shared(passes.hidden.lengths);
  causes.push_back({"h2d_copy", uploaded, nullptr, nullptr, std::move(passes.hidden.most_ns)});
  Scenario silent;
  silent.without_communication = true;
  causes.push_back({"comm_exposed", silent, [](const StepSplit& split) {
                      return split.partition.exposed_communication_ns +
                             split.idle(IdleCause::kCommunication);
                    }});
  for (const KernelSaving& saving : passes.kernels)
    causes.push_back(FewerKernels(judged, saving, *passes.host));
  return causes;
}

std::vector<double> Chosen(const std::vector<double>& values, const std::vector<bool>& use) {
  std::vector<double> chosen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (use[i]) chosen.push_back(values[i]);
  }
  return chosen;
}

// Where what a cause costs recurs at a steady distance (a checkpoint every so many steps), only
// whole periods count, from after the first to the last time: a recording that ends just before or
// after one would tell another cost a step. `use` is left alone where nothing recurs, or not from
// the beginning to the end of the recording: a spell of pauses has no period.
void KeepWholePeriods(const std::vector<double>& costs, std::vector<bool>* use) {
  constexpr double kCounts = 0.25;  // of the largest cost
  constexpr double kSteady = 0.2;   // of the distance
  const double most = *std::max_element(costs.begin(), costs.end());
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if ((*use)[i] && most > 0 && costs[i] >= kCounts * most) at.push_back(i);
  }
  if (at.size() < kRecurringSteps) return;
  const double distance =
      static_cast<double>(at.back() - at.front()) / static_cast<double>(at.size() - 1);
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (std::abs(static_cast<double>(at[i] - at[i - 1]) - distance) > kSteady * distance) return;
  }
  const auto most_apart = static_cast<std::size_t>((1 + kSteady) * distance) + 1;
  if (at.front() > most_apart || costs.size() - at.back() > most_apart) return;
  for (std::size_t i = 0; i < use->size(); ++i) {
    if (i <= at.front() || i > at.back()) (*use)[i] = false;
  }
}

class Estimator {
 public:
  // Both must outlive it.
  Estimator(const DeviceAnalysis& judged, Passes& passes)
      : judged_(judged),
        passes_(passes),
        replay_(*passes.replay),
        cost_(passes.cost),
        usual_(StepsOfCause(judged, "")) {
    for (const Step& step : judged.steps.steps)
      lengths_.push_back(static_cast<double>(step.length_ns()));
  }

  Savings Estimate(StopFlag stop) {
    Savings found;
    const std::vector<Cause> causes = Causes(judged_, passes_);
    found.kernels = std::move(passes_.kernels);
    FitToTurns(stop);
    std::vector<Scenario> scenarios = {
        {}, Unrecorded({}), At(cost_.low_ns, {}), At(cost_.high_ns, {})};
    for (const Cause& cause : causes) {
      if (replay_.Changes(cause.scenario)) scenarios.push_back(Unrecorded(cause.scenario));
    }
    const std::vector<std::vector<TimeNs>> lengths = ReplayAll(replay_, scenarios, stop);
    if (IsStopped(stop)) return {};
    unchanged_ = lengths[0];
    base_ = lengths[1];
    base_low_ = lengths[2];
    base_high_ = lengths[3];
    found.unchanged = Unrecorded({});
    found.steps = static_cast<std::size_t>(std::count(usual_.begin(), usual_.end(), true));
    const double recorded = std::accumulate(lengths_.begin(), lengths_.end(), 0.0);
    const double replayed =
        static_cast<double>(std::accumulate(unchanged_.begin(), unchanged_.end(), TimeNs{0}));
    found.check = CheckReplay(replay_, *judged_.rank, *judged_.device, judged_.steps, stop);
    found.replay_error = recorded > 0 ? std::abs(replayed - recorded) / recorded : 1;
    auto without = lengths.begin() + 4;
    for (const Cause& cause : causes)
      found.causes.push_back(Of(cause, replay_.Changes(cause.scenario) ? *without++ : base_));
    Widen(causes, found.causes, stop);
    SortSavings(found);
    RecordingOf(found);
    return found;
  }

 private:
  static Scenario At(double recorder_ns, Scenario scenario) {
    scenario.recorder_ns = static_cast<TimeNs>(recorder_ns);
    return scenario;
  }
  Scenario Unrecorded(Scenario scenario) const { return At(cost_.launch_ns, std::move(scenario)); }

  // Over the steps that count for most causes, by how much the first are longer.
  double Longer(const std::vector<TimeNs>& these, const std::vector<TimeNs>& those) const {
    std::vector<double> longer;
    for (std::size_t i = 0; i < these.size(); ++i)
      longer.push_back(static_cast<double>(these[i] - those[i]));
    return Mean(Chosen(longer, usual_));
  }

  // What recording adds to a step, where that was measured alternately. What stays while nothing is
  // recorded is in both halves of the turns: half of it to the most that there is is added. Where
  // the replay can add as much, its launches cost what makes it do so.
  void FitToTurns(StopFlag stop) {
    const std::optional<AbSteps> turns =
        cost_.launch_ns > 0 ? CompareSteps(*judged_.rank) : std::nullopt;
    if (!turns) return;
    const std::vector<std::vector<TimeNs>> lengths = ReplayAll(replay_, {{}, Unrecorded({})}, stop);
    if (IsStopped(stop)) return;
    const double replayed = Longer(lengths[0], lengths[1]);
    const double resident = replayed * cost_.resident_ns / cost_.launch_ns;
    measured_ = {std::max(0.0, turns->added_ns + resident),
                 std::max(0.0, turns->low_ns + resident / 2),
                 std::max(0.0, turns->high_ns + resident * kMaxResidentShare / kResidentShare)};
    if (replayed < kShownRecording * Mean(Chosen(lengths_, usual_)) ||
        measured_->ns > kMaxFitted * replayed)
      return;
    const double scale = cost_.launch_ns / replayed;
    cost_ = {measured_->ns * scale, measured_->low_ns * scale,
             std::min(measured_->high_ns, kMaxFitted * replayed) * scale, cost_.resident_ns,
             cost_.known};
  }

  void RecordingOf(Savings& found) const {
    found.recording_measured = measured_.has_value();
    found.recording_known = measured_ || cost_.known;
    if (measured_) {
      found.recording_low_ns = measured_->low_ns;
      found.recording_high_ns = measured_->high_ns;
    } else {
      found.recording_low_ns = std::max(0.0, found.recording_ns - Longer(base_low_, base_));
      found.recording_high_ns = found.recording_ns + Longer(base_, base_high_);
    }
    if (cost_.launch_ns > 0)
      found.resident_ns = std::min(found.recording_ns,
                                   Longer(unchanged_, base_) * cost_.resident_ns / cost_.launch_ns);
  }

  // What is saved at most of a step; empty: the replay alone says.
  std::optional<TimeNs> LimitOf(const Cause& cause, std::size_t step,
                                const std::vector<TimeNs>& base) const {
    std::optional<TimeNs> limit;
    if (cause.limit)
      limit = std::max<TimeNs>(
          0, cause.limit(judged_.causes.steps[step]) - (unchanged_[step] - base[step]));
    if (!cause.shorter.empty()) limit = limit.value_or(0) + cause.shorter[step];
    return limit;
  }

  // What a cause costs, step by step.
  struct Costs {
    std::vector<double> replayed, booked, point, most;
  };
  // `base`, `without`: the lengths of the steps with and without it.
  Costs CostsOf(const Cause& cause, const std::vector<TimeNs>& base,
                const std::vector<TimeNs>& without) const {
    Costs costs;
    for (std::size_t i = 0; i < without.size(); ++i) {
      TimeNs saved = base[i] - without[i];
      if (const std::optional<TimeNs> limit = LimitOf(cause, i, base)) {
        saved = std::min(saved, *limit);
        costs.most.push_back(static_cast<double>(*limit));
      }
      const auto replayed = static_cast<double>(saved);
      const double booked =
          cause.booked ? static_cast<double>(cause.booked(judged_.causes.steps[i])) : replayed;
      costs.replayed.push_back(replayed);
      costs.booked.push_back(booked);
      costs.point.push_back((replayed + booked) / 2);
    }
    return costs;
  }
  std::vector<bool> StepsOf(const Cause& cause, const Costs& costs) const {
    std::vector<bool> use = StepsOfCause(judged_, cause.label);
    if (IsNowAndThen(cause.label)) KeepWholePeriods(costs.point, &use);
    return use;
  }

  CauseSaving Of(const Cause& cause, const std::vector<TimeNs>& without) const {
    const Costs costs = CostsOf(cause, base_, without);
    const std::vector<bool> use = StepsOf(cause, costs);
    const auto resample = [&](const std::vector<double>& values) {
      const std::vector<double> chosen = Chosen(values, use);
      return IsNowAndThen(cause.label) ? ResampledSparseMeans(chosen) : ResampledMeans(chosen);
    };
    std::vector<double> recording;
    for (std::size_t i = 0; i < without.size(); ++i)
      recording.push_back(static_cast<double>(unchanged_[i] - base_[i]));
    CauseSaving saving;
    saving.label = cause.label;
    saving.saved_ns = Mean(Chosen(costs.point, use));
    saving.step_ns = Mean(Chosen(lengths_, use));
    saving.steps = use;
    saving.recording_ns = measured_ ? measured_->ns : Mean(Chosen(recording, use));
    saving.scenario = Unrecorded(cause.scenario);
    if (!costs.most.empty()) saving.most_ns = Mean(Chosen(costs.most, use));
    // Without a second estimate all three are the same.
    const std::vector<double> of_replay = resample(costs.replayed);
    saving.resampled = cause.booked ? resample(costs.point) : of_replay;
    const Bounds a = Middle95(of_replay), b = cause.booked ? Middle95(resample(costs.booked)) : a;
    saving.low_ns = std::min({a.low, b.low, saving.saved_ns});
    saving.high_ns = std::max({a.high, b.high, saving.saved_ns});
    return saving;
  }

  // By what they would save if recording cost as little or as much as it may. Not where that hardly
  // matters, nor of those that are far from worth naming.
  void Widen(const std::vector<Cause>& causes, std::vector<CauseSaving>& found,
             StopFlag stop) const {
    if (Longer(base_low_, base_high_) < kShownRecording * Mean(Chosen(lengths_, usual_))) return;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      if (replay_.Changes(causes[i].scenario) &&
          found[i].high_ns > kFloorShare / 2 * found[i].step_ns)
        WidenByReplay(causes[i], found[i], stop);
    }
  }
  void WidenByReplay(const Cause& cause, CauseSaving& saving, StopFlag stop) const {
    const std::vector<std::vector<TimeNs>> without = ReplayAll(
        replay_, {At(cost_.low_ns, cause.scenario), At(cost_.high_ns, cause.scenario)}, stop);
    if (IsStopped(stop)) return;
    const auto more = [&](const std::vector<TimeNs>& base, const std::vector<TimeNs>& those) {
      const Costs costs = CostsOf(cause, base, those);
      return Mean(Chosen(costs.point, StepsOf(cause, costs))) - saving.saved_ns;
    };
    const double at_low = more(base_low_, without[0]), at_high = more(base_high_, without[1]);
    saving.low_ns += std::min({0.0, at_low, at_high});
    saving.high_ns += std::max({0.0, at_low, at_high});
  }

  const DeviceAnalysis& judged_;
  Passes& passes_;
  const Replay& replay_;
  RecorderCost cost_;
  struct Added {
    double ns = 0, low_ns = 0, high_ns = 0;
  };
  std::optional<Added> measured_;  // alternately: to a mean step, by recording
  std::vector<bool> usual_;        // the steps that count for most causes
  // With what recording adds, and without: as much as it is, as little and as much as it may be.
  std::vector<TimeNs> unchanged_, base_, base_low_, base_high_;
  std::vector<double> lengths_;
};

}  // namespace

bool IsNowAndThen(std::string_view label) {
  return label == "checkpoint" || label == "gc_pause" || label == kHostWaitLabel;
}

double PinnedRate(const DeviceAnalysis& judged) {
  constexpr double kUnknown = 20;
  const auto link = LinkToAssume(*judged.device, judged.host_link);
  return link ? kPinnedShare * link->gb_per_s : kUnknown;
}

std::vector<bool> StepsOfCause(const DeviceAnalysis& judged, std::string_view label) {
  if (!IsNowAndThen(label)) return UsualSteps(judged.kinds, judged.steps);
  std::vector<bool> use;
  for (const Step& step : judged.steps.steps) use.push_back(!step.warm_up);
  return use;
}

std::vector<std::vector<TimeNs>> ReplayAll(const Replay& replay,
                                           const std::vector<Scenario>& scenarios, StopFlag stop) {
  const std::size_t parts = std::min<std::size_t>(Processors(), scenarios.size());
  std::vector<std::vector<TimeNs>> lengths(scenarios.size());
  std::vector<std::function<void()>> tasks;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * scenarios.size() / parts;
    const std::size_t end = (part + 1) * scenarios.size() / parts;
    tasks.emplace_back([&, first, end] {
      std::vector<std::vector<TimeNs>> found =
          replay.RunAll({scenarios.begin() + static_cast<std::ptrdiff_t>(first),
                         scenarios.begin() + static_cast<std::ptrdiff_t>(end)},
                        stop);
      for (std::size_t i = first; i < end; ++i) lengths[i] = std::move(found[i - first]);
    });
  }
  RunInParallel(tasks);
  return lengths;
}

void SortSavings(Savings& savings) {
  std::stable_sort(
      savings.causes.begin(), savings.causes.end(),
      [](const CauseSaving& a, const CauseSaving& b) { return a.saved_ns > b.saved_ns; });
  savings.step_ns = savings.causes.front().step_ns;
  savings.recording_ns = savings.causes.front().recording_ns;
}

Savings FindSavings(const DeviceAnalysis& judged, StopFlag stop) {
  Passes passes;
  RunPasses(judged, passes);
  return Estimator(judged, passes).Estimate(stop);
}

}  // namespace traceinject
