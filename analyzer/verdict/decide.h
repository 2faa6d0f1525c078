// SPDX-License-Identifier: Apache-2.0
// From savings to a label, or to the reason why there is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/places/named_wait.h"
#include "analyzer/verdict/savings/savings.h"
#include "analyzer/verdict/working_share.h"

namespace traceinject {

// A replay that misses the recording by more predicts nothing.
inline constexpr double kReplayErrorLimit = 0.1;

// What the savings rest on.
struct Grounds {
  StepSource source = StepSource::kWindow;
  double step_confidence = 1;        // that the steps are the steps of the program
  std::size_t marked = 0;            // one or two steps, all that the program marked; 0: not so
  WorkingShares working;             // of the steps
  double joined_share = 1;           // operations whose launch is known
  double acausal_share = 0;          // of those, started before they were launched
  std::optional<double> lost_share;  // of the records
  bool health_error = false, lossy = false;
  bool in_windows = false;  // only parts of the run were recorded (TRACEINJECT_WINDOW)
  bool one_rank = true;     // of the job, one rank was recorded
  // Of several: what the device waited for others in a mean step with nothing else to do, of the
  // replay of them all, and how many of how many clocks could not be aligned.
  double rank_wait_ns = 0, job_replay_error = 0;
  int clocks = 0, unaligned_clocks = 0;
  // What most of the host time is called that nothing else explains; empty: it has no name.
  std::optional<NamedWait> named_wait = std::nullopt;
  // Of a mean step, idle time before operations whose launch was not to be recorded.
  double unknown_ns = 0;
  std::string distrust;  // why figures that it needs are withheld; empty: they are not
};

struct Decision {
  std::string label;
  const CauseSaving* cause = nullptr;      // of the label; null: compute_bound or inconclusive
  const CauseSaving* runner_up = nullptr;  // null: nothing else saves anything
  double confidence = 0;
  double margin = 0;
  std::string abstained;            // inconclusive: why, and what to do
  bool nothing_stands_out = false;  // inconclusive, because no cause saves enough for certain
  bool unexplained = false;         // inconclusive, because nothing recorded explains the largest
  std::vector<std::string> caveats;
  WorkingShares working;  // of the grounds
};

// The cause with the largest lower bound above the floor. Without one: compute_bound if the device
// is busy, else inconclusive. Inconclusive too if the recording cannot carry a label, or if nothing
// recorded explains the largest part, unless the launching threads computed all the time:
// launch_bound. Confidence: how often the label comes first in the bootstrap, or where another
// cause may save more but less surely, how likely it does not, by the intervals of both; less for a
// replay that does not give the recording back, or one half of the steps from the other (none left
// at kReplayErrorLimit; of the job where the cause is between ranks), at most 0.5 for one that
// cannot explain a tenth of the step, less for records that are missing, clocks of ranks that could
// not be aligned, a bubble that no replay told (at most 0.6), a margin below 2 % of the step (at
// most 0.5), a window or one or two steps (at most 0.4), communication seen from one rank (at most
// 0.6), and steps that nobody marked (at most theirs). Where nothing else is found in the steps,
// what lies between them (Savings::between) is the label. The result points into `savings`.
Decision Decide(const Savings& savings, const Grounds& grounds);

}  // namespace traceinject
