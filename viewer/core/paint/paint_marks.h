// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/session/workspace.h"

namespace traceinject {

// Draws the marks over the timeline: a flag with the text on the ruler, a line through the rows,
// and the band of a range. O(marks).
void PaintMarks(const Workspace& workspace, Canvas& canvas);

}  // namespace traceinject
