// SPDX-License-Identifier: Apache-2.0
// Plays a script on the window, through ImGui's input, as if somebody sat before it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/common/result.h"
#include "viewer/core/session/script.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {

// What a script is played on. All but `print` are called with an ImGui context that has no window
// behind it, which would write its own input.
struct ScriptStage {
  // Draws one frame: ViewerUi::Frame between NewFrame and Render.
  std::function<void(const std::vector<KeyPress>&)> frame;
  // Writes the last frame to a PNG.
  std::function<Status(const std::string& path)> screenshot;
  // Text for stdout.
  std::function<void(const std::string& text)> print;
};

// Errors: "line 3: ..." of the step that could not be done (without the line for a step of line 0,
// which comes from no file); what was done before stays done. Steps
// about a timeline fail while nothing is open.
Status PlayScript(const std::vector<ScriptStep>& steps, ViewerUi& ui, const ScriptStage& stage);

}  // namespace traceinject
