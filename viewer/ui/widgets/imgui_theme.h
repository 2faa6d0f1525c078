// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <imgui.h>

#include "analyzer/view/style/theme.h"

namespace traceinject {

// Makes the theme ImGui's own colors. Cheap: can be called every frame.
void ApplyTheme(const Theme& theme);

// Of text, in the theme applied last: of less weight, not to be missed, bad and good news, what can
// be clicked.
ImVec4 DimColor();
ImVec4 WarningColor();
ImVec4 BadColor();
ImVec4 GoodColor();
ImVec4 LinkColor();

}  // namespace traceinject
