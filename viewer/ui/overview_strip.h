// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "viewer/core/timeline/overview.h"
#include "viewer/core/timeline/timeline.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

// The whole run above the timeline, at ImGui's cursor; the mouse moves what the timeline shows.
void DrawOverview(Overview& overview, Timeline& timeline, const std::vector<bool>& marks,
                  Controls& controls);

}  // namespace traceinject
