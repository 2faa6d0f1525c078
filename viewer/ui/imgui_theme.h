// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <imgui.h>

#include "viewer/core/theme.h"

namespace traceinject {

// Makes the theme ImGui's own colours. Cheap: can be called every frame.
void ApplyTheme(const Theme& theme);

// Of the theme applied last: text of less weight, and text that must not be missed.
ImVec4 DimColour();
ImVec4 WarningColour();

}  // namespace traceinject
