// SPDX-License-Identifier: Apache-2.0
// Whether a replay (replay.h) would have predicted what it was not reported.
//
// With nothing changed a replay gives the recorded times back, because of each operation it takes
// what its model cannot explain from the recording: the latency from its launch, and the gap after
// the operation before it. That proves nothing. So the regular steps are dealt out to two halves,
// in turns, and each half is played with the latencies and gaps of the other one: of the operation
// at the same place of the step, the median over those steps; where steps are not alike, of
// operations of the same kind. What the host does between its calls and how long operations take is
// that of the step itself, as it is in every scenario.
#pragma once

#include <cstddef>
#include <optional>

#include "analyzer/common/stop_flag.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/model/run.h"

namespace traceinject {

// With fewer regular steps there is nothing to fit to.
inline constexpr std::size_t kMinChecked = 4;

struct ReplayCheck {
  std::size_t steps = 0;  // predicted
  double error = 0;       // |predicted / recorded - 1| of the mean step
  double median_step_error = 0, worst_step_error = 0;  // of single steps
  // Of the step time, what is gone if gaps are no longer than usual and latencies are the usual
  // ones: the part that the model takes from the recording and cannot explain.
  double residual_share = 0;
};

// Of the first steps, up to half a million operations. Empty: too few regular steps, or none that
// end with an operation; or it was stopped. O(operations log steps).
std::optional<ReplayCheck> CheckReplay(const Replay& replay, const Rank& rank, const Device& device,
                                       const Steps& steps, StopFlag stop = nullptr);

}  // namespace traceinject
