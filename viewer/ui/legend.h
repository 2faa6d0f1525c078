// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/paint/legend.h"

namespace traceinject {

// At ImGui's cursor, over the whole width: what the colors painted last mean. A line, or two in a
// narrow window; what has no room is in the tooltip of its number.
void DrawLegend(const Painted& painted, const Look& look);

}  // namespace traceinject
