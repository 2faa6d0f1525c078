// SPDX-License-Identifier: Apache-2.0
// What a step would get back without each cause, on one device.
//
// Two estimates for each cause and step: gap subtraction (the idle or exposed time booked to it)
// and replay (metrics/what_if/replay.h). The first overlooks that the run may then be limited by
// something else, and what the cause did to run-ahead; the second that hosts do not run as smoothly
// as a model of them. The point is their mean and the interval spans both; where the first is blind
// (what a wait did to run-ahead, what launching hides, the copies of a checkpoint) the replay alone
// counts.
//
// Kernels that could take less time (kernel_savings.h) count as the replay says, which knows what
// limits the run then, but never with more than they themselves would take less, and as much again
// of the host's time for launches that there would not be. What launching costs beyond that is
// launch_bound's.
//
// Recording lengthens every launch, and what is saved should be time of the run that nobody
// records: in recordings of ours both replays, with and without the cause, launch faster by what
// that costs (metrics/cost/recorder_cost.h). Where the run measured alternately what recording
// adds to a step (metrics/cost/ab_steps.h), that is told, and launches cost as much as makes the
// replay add it. Either has an interval, and those of the causes span what they save at both its
// ends.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/stop_flag.h"
#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/metrics/what_if/kernel_savings.h"
#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/metrics/what_if/replay_check.h"
#include "analyzer/model/run.h"
#include "analyzer/verdict/savings/floor.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct CauseSaving {
  std::string_view label;                        // host_wait: time that nothing explains
  double saved_ns = 0, low_ns = 0, high_ns = 0;  // of a mean step
  std::vector<double> resampled;                 // means of the bootstrap, of the point estimate
  double step_ns = 0;                            // mean of the steps over which it is spread
  double recording_ns = 0;                       // of that, what recording added
  // Those steps, as Steps::steps; empty, as of causes between ranks: the usual ones.
  std::vector<bool> steps = {};
  // Of a cause of the device: how it is replayed without, and what it saves at most (kNoLimit).
  std::optional<Scenario> scenario = std::nullopt;
  double most_ns = kNoLimit;
  const proto::RankFinding* finding = nullptr;  // of what ranks do to each other (skew_causes.h)
  std::string place = {};                       // as Verdict.place
};

// See between_steps.h.
struct BetweenSteps {
  std::string_view label;
  TimeNs ns = 0;
  double share = 0, all_share = 0;  // of the training time; with all that lies between
  std::int64_t times = 0;
  std::string text, place;
  CauseSaving saving;  // were it gone
};

struct Savings {
  double step_ns = 0;       // mean of the steps over which the largest is spread
  double recording_ns = 0;  // of that, what recording added, with the 95 % interval
  double recording_low_ns = 0, recording_high_ns = 0;
  double resident_ns = 0;           // of that, what stays while nothing is recorded
  bool recording_measured = false;  // alternately, in this run
  bool recording_known = true;      // false: no launches were recorded, to which it is added
  std::size_t steps = 0;
  double replay_error = 0;            // share
  std::optional<ReplayCheck> check;   // of the replay; empty: too few steps
  Scenario unchanged;                 // but for what recording added
  std::vector<CauseSaving> causes;    // largest first
  std::vector<KernelSaving> kernels;  // what the causes of class compute rest on
  std::vector<BetweenSteps> between;  // at most one; asked where no cause of the steps is found
};

inline constexpr std::string_view kHostWaitLabel = "host_wait";

// Rate that copies from pinned memory reach, bytes per nanosecond; 20 if the link is unknown.
double PinnedRate(const DeviceAnalysis& judged);

// The steps over which the figures of a cause are means. Checkpoints, evaluations, collections and
// unexplained waits happen now and then: they are spread over all steps after warm-up. For all
// other causes, and the empty label, evaluation and checkpoints are left out, too, and what else is
// irregular if it is isolated: fewer than three of them, so that they do not recur.
std::vector<bool> StepsOfCause(const DeviceAnalysis& judged, std::string_view label);
// Whether a cause is one of those that are spread over all of them.
bool IsNowAndThen(std::string_view label);

// As Replay::RunAll(): each of a few threads plays some of them side by side.
std::vector<std::vector<TimeNs>> ReplayAll(const Replay& replay,
                                           const std::vector<Scenario>& scenarios, StopFlag stop);

// The largest first, and the step that goes with it. There are causes.
void SortSavings(Savings& savings);

// Over these steps; what happens now and then in whole periods where it recurs steadily.
// O(scenarios * n). Stopped: without causes.
Savings FindSavings(const DeviceAnalysis& judged, StopFlag stop = nullptr);

}  // namespace traceinject
