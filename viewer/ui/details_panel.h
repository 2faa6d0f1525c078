// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemas/report.pb.h"
#include "viewer/core/timeline.h"
#include "viewer/ui/widgets.h"

namespace traceinject {

// What is known of the measured time or the selected event; without either, how to begin. `report`
// adds the step that it lies in; may be null.
void DrawDetails(const Timeline& timeline, const proto::Report* report, Controls& controls);

}  // namespace traceinject
