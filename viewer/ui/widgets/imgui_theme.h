// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <imgui.h>

#include "viewer/core/style/theme.h"

namespace traceinject {

// Makes the theme ImGui's own colours. Cheap: can be called every frame.
void ApplyTheme(const Theme& theme);

// Of text, in the theme applied last: of less weight, not to be missed, bad and good news, what can
// be clicked.
ImVec4 DimColour();
ImVec4 WarningColour();
ImVec4 BadColour();
ImVec4 GoodColour();
ImVec4 LinkColour();

}  // namespace traceinject
