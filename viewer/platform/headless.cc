// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/headless.h"

#include <imgui.h>

namespace traceinject {

HeadlessScreen::HeadlessScreen(int width_px, int height_px, float scale) : imgui_(scale) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width_px), static_cast<float>(height_px)};
  io.DeltaTime = 1.0F / 60;
  // As the renderer of the window: more than 65536 vertices in a list are no trouble.
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  // ImGui insists on the fonts being drawn.
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
}

void HeadlessScreen::Frame(const std::function<void()>& draw) {
  ImGui::NewFrame();
  draw();
  ImGui::Render();
}

}  // namespace traceinject
