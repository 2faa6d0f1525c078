// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/timeline.h"

namespace traceinject {

// Draws ruler, labels, events, measurement and selection. An event wide enough is a box with its
// name; where events are narrower, the height of a column is the share of its time that is busy,
// its colour that of the longest event in it (of a GPU row: stacked compute, communication,
// copies). O(visible lanes x pixels).
void PaintTimeline(const Timeline& timeline, Canvas& canvas);

}  // namespace traceinject
