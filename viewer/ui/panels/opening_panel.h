// SPDX-License-Identifier: Apache-2.0
// What the window says while a recording is being opened, and when it cannot be.
#pragma once

#include <string>

#include "analyzer/import/load/load_run.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

// In the corner, over a timeline that is not all there yet.
void DrawReadingNote(const LoadProgress& progress, const std::string& what);

// In the corner: what a command has to say.
void DrawNotice(const std::string& notice);

// In the middle: why `what` cannot be shown, and what to do. True: it was closed.
bool DrawProblem(const std::string& what, const std::string& message, Controls& controls);

}  // namespace traceinject
