// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/view/style/legend.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

// All that can come into view with a look, whatever is shown of the run. O(rows).
Painted Paintable(const RowModel& model, const Look& look);

// Draws ruler, labels, events, measurement and selection. An event wide enough is a box with its
// name; where events are narrower, the height of a column is the share of its time that is busy,
// its color that of the longest event in it (of a GPU row: stacked compute, communication,
// copies). Of a collective's box the part in which it waited for other ranks is paler. A figure is
// an area up to its least value in a pixel, paler up to its most. O(visible lanes x pixels).
Painted PaintTimeline(const Timeline& timeline, Canvas& canvas);

}  // namespace traceinject
