// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "viewer/core/load/background_load.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

// In the rest of the line: what is open, what is shown of it, if that is to be said, and how many
// remarks the reader made; all of it and the remarks' text under the pointer.
void DrawTitleBar(const LoadedRun& loaded, const std::string& shown, Controls& controls);

}  // namespace traceinject
