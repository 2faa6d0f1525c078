// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "viewer/platform/imgui_session.h"

namespace traceinject {

// Frames that are drawn elsewhere or by nobody: for browsers, scripts that look at the state only,
// and benchmarks, on any machine.
class HeadlessScreen {
 public:
  HeadlessScreen(int width_px, int height_px, float scale);
  // Of several on a thread: the one that all calls of ImGui are about.
  void MakeCurrent() const { imgui_.MakeCurrent(); }
  // One frame: `draw` is called between ImGui's NewFrame and Render.
  void Frame(const std::function<void()>& draw);

 private:
  ImGuiSession imgui_;
};

}  // namespace traceinject
