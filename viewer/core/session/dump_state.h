// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "viewer/core/session/workspace.h"

namespace traceinject {

// What the window shows, in its meaning instead of its pixels, as JSON with a line end: view,
// selection and what it is linked to, measured range, rows on screen, marks, open panels. Times are
// ns after the first GPU operation, pixels count from the top left of the timeline.
std::string DumpState(const Workspace& workspace);

}  // namespace traceinject
