// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/load/background_load.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

// In the rest of the line: what is open, and how many remarks the reader made; all of it and the
// remarks' text under the pointer.
void DrawTitleBar(const LoadedRun& loaded, Controls& controls);

}  // namespace traceinject
