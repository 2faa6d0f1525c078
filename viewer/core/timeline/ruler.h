// SPDX-License-Identifier: Apache-2.0
// Where the ruler has its ticks and what stands at them.
#pragma once

#include <string>
#include <vector>

#include "viewer/core/timeline/timeline_view.h"

namespace traceinject {

struct Tick {
  TimeNs time = 0;
  std::string label;  // "12.345 s" from `origin`; all of one ruler in one unit
};

// Ticks at round times (1, 2 or 5 times a power of ten from `origin_ns`), at least `apart_px`
// pixels apart. O(ticks).
std::vector<Tick> RulerTicks(const TimelineView& view, TimeNs origin_ns, float apart_px);

}  // namespace traceinject
