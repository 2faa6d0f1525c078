// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/widgets/imgui_canvas.h"

namespace traceinject {

ImU32 ToImGui(Rgba color) {
  return IM_COL32(color >> 24, (color >> 16) & 0xff, (color >> 8) & 0xff, color & 0xff);
}

void ImGuiCanvas::Fill(const Box& box, Rgba color) {
  list_.AddRectFilled(At(box.left, box.top), At(box.right, box.bottom), ToImGui(color));
}

// ImGui's frame has its middle half a pixel inside the corners.
void ImGuiCanvas::Outline(const Box& box, Rgba color, float width_px) {
  const float inset = (width_px - 1) / 2;
  list_.AddRect(At(box.left + inset, box.top + inset), At(box.right - inset, box.bottom - inset),
                ToImGui(color), 0, ImDrawFlags_None, width_px);
}

void ImGuiCanvas::Text(float x, float y, Rgba color, std::string_view text, const Box& clip) {
  if (text.empty()) return;
  const ImVec2 low = At(clip.left, clip.top), high = At(clip.right, clip.bottom);
  const ImVec4 fine(low.x, low.y, high.x, high.y);
  list_.AddText(ImGui::GetFont(), ImGui::GetFontSize(), At(x, y), ToImGui(color), text.data(),
                text.data() + text.size(), 0, &fine);
}

float ImGuiCanvas::TextWidth(std::string_view text) const {
  return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
}

void ImGuiCanvas::Clip(const Box& box) {
  list_.PushClipRect(At(box.left, box.top), At(box.right, box.bottom), true);
}

}  // namespace traceinject
