// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/view/style/legend.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

// At ImGui's cursor, over the whole width: what the colors mean, dimmed those that were not painted
// last. As many lines as that takes, but no more than three; what has no room is in the tooltip of
// its number. `entries`: in their order.
void DrawLegend(const std::vector<LegendEntry>& entries, const Painted& painted,
                Controls& controls);

}  // namespace traceinject
