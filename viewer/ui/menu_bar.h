// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/session/workspace.h"

namespace traceinject {

// Every command, under the title of its group. To be called in a window with a menu bar, between
// BeginMenuBar and EndMenuBar.
void DrawMenus(Workspace& workspace);

}  // namespace traceinject
