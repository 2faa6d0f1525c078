// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemas/report.pb.h"
#include "viewer/core/session/workspace.h"
#include "viewer/core/timeline/shading.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

// What limits the run, by how much and why; what to change; what else would be saved; where a step
// goes; how good the recording is. The same message as `analyze` prints. A click on a line of
// evidence shows its place on the timeline, one on a cause shades its time there. `shading`: what
// is shaded already; null: nothing.
void DrawVerdict(const proto::Report& report, const Shading* shading, Workspace& workspace,
                 Controls& controls);

}  // namespace traceinject
