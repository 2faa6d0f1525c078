// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <imgui.h>

#include "viewer/core/timeline/input_queue.h"

namespace traceinject {

// Sets mouse and modifiers for the next frame, between the back end's NewFrame, which polled them,
// and ImGui's.
inline void TellImGui(const FrameInput& input) {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = input.held.control;
  io.KeyShift = input.held.shift;
  io.KeyAlt = input.held.alt;
  io.MousePos = {input.mouse.place.x, input.mouse.place.y};
  for (std::size_t button = 0; button < kMouseButtons; ++button) {
    io.MouseDown[button] = input.mouse.down[button];
  }
  io.MouseWheel = input.wheel.y;
  io.MouseWheelH = input.wheel.x;
}

}  // namespace traceinject
