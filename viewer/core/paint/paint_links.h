// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/timeline/timeline.h"

namespace traceinject {

// Draws over the timeline what the event under the pointer and the selected one are linked to:
// frames around the partners of the first, arrows from and to the second. An arrow to a place off
// the screen ends at the edge. O(what is linked).
void PaintLinks(const Timeline& timeline, Canvas& canvas);

}  // namespace traceinject
