// SPDX-License-Identifier: Apache-2.0
// From the published peak of a GPU to what it achieved: what each cause takes away of the time of
// the judged steps, in parts that add up to it.
//
// The last part, achieved, is the time that the known work would take at the dense peaks of its
// types: as a share of the time, hardware FLOPs utilization (HFU), but that attention with a causal
// mask counts the pairs that it leaves. A kernel of known work that took t, where it would take
// `peak` at the peak, lost t - peak: first to the clock, what it would gain at the highest one of
// this GPU, t x (1 - busy / highest clock), but no more than leaves the time that its matrices take
// to move, as memory does not follow that clock; then to what the best kernels of this GPU do not
// reach either (up to reached; they were measured near the highest clock); then, where its matrices
// take longer to move than to multiply, to memory; the rest is its own: shape, tiles that do not
// fill the last wave, an older kernel. Kernels of the same classes whose work is not known lose to
// the clock likewise; others, which memory bounds, do not.
// Kernels that ran at the same time as others share the time of their kind (compute_time.h) by
// their durations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/kernels/compute_time.h"
#include "analyzer/model/run.h"

namespace traceinject {

// From the peak down.
enum class WaterfallPart : std::uint8_t {
  kClock,
  kIdle,  // a bar for each cause
  kExposedCommunication,
  kExposedCopies,
  kUnrecorded,
  kMemoryBound,
  kUnknownWork,
  kAttention,
  kProducts,
  kCeiling,
  kAchieved,
};

// For files: "clock", "idle", ...; for people: "clock below the GPU's highest", ...
std::string_view WaterfallPartName(WaterfallPart part);
std::string_view WaterfallPartTitle(WaterfallPart part);

struct WaterfallItem {
  std::string name;  // of a ComputeGroup
  TimeNs ns = 0;
};

struct WaterfallBar {
  WaterfallPart part = WaterfallPart::kAchieved;
  std::optional<IdleCause> cause = std::nullopt;  // of kIdle, where causes are known
  TimeNs ns = 0;                                  // in all of the time; above 0
  std::vector<WaterfallItem> items = {};          // what is most of it, largest first
  std::int32_t tenths = 0;                        // of a percent: of all bars 1000
};

struct Waterfall {
  std::vector<WaterfallBar> bars;  // from the peak down; empty: see reason
  TimeNs wall_ns = 0;
  TimeNs full_square_ns = 0;  // what HFU counts more, at the peak
  std::string reason;         // why there is none

  // The largest of computing itself; null: all of it is achieved.
  const WaterfallBar* largest_loss_of_computing() const;
};

// `split`: of the same times as `compute`; its idle causes may be all 0, which means unknown.
// `clock`: the highest of the GPU / that of the busy GPU; empty: not known.
// O(groups log groups)
Waterfall WaterfallOf(const Device& device, const StepSplit& split, const ComputeTime& compute,
                      std::optional<double> clock);

}  // namespace traceinject
