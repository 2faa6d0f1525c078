// SPDX-License-Identifier: Apache-2.0
// The parts of the window beside the timeline. All draw at ImGui's cursor.
#pragma once

#include <string>

#include "viewer/core/background_load.h"
#include "viewer/core/timeline.h"

namespace traceinject {

// One line: what is open, and how many remarks the reader made (hover: their text).
void DrawTitleBar(const LoadedRun& loaded);
// What is known of the selected event or the measured time; without either, how to begin.
void DrawDetails(const Timeline& timeline);
// The event under the pointer, beside the pointer.
void DrawTooltip(const Timeline& timeline, const EventRef& ref);
// Keys and mouse, over everything.
void DrawHelp();
void DrawProgress(const LoadProgress& progress, const std::string& what);

}  // namespace traceinject
