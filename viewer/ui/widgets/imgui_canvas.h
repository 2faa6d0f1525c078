// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <imgui.h>

#include "analyzer/view/style/canvas.h"

namespace traceinject {

ImU32 ToImGui(Rgba color);

// Draws into a window's draw list, moved by `origin`. Labels are cut on the CPU: a clip rectangle
// each would be a draw command each.
class ImGuiCanvas : public Canvas {
 public:
  ImGuiCanvas(ImDrawList& list, ImVec2 origin) : list_(list), origin_(origin) {}

  void Fill(const Box& box, Rgba color) override;
  void Outline(const Box& box, Rgba color, float width_px) override;
  void Text(float x, float y, Rgba color, std::string_view text, const Box& clip) override;
  float TextWidth(std::string_view text) const override;
  float TextHeight() const override { return ImGui::GetFontSize(); }
  void Clip(const Box& box) override;
  void Unclip() override { list_.PopClipRect(); }

 private:
  ImVec2 At(float x, float y) const { return {origin_.x + x, origin_.y + y}; }

  ImDrawList& list_;
  ImVec2 origin_;
};

}  // namespace traceinject
