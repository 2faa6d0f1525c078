// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/title_bar.h"

#include <algorithm>

#include "viewer/core/load/title.h"
#include "viewer/ui/widgets/imgui_canvas.h"

namespace traceinject {
namespace {

void DrawTooltip(const Title& title, const Run& run) {
  ImGui::BeginTooltip();
  Put(title.name);
  PutColored(DimColor(), title.time);
  if (!title.shown.empty()) Put(title.shown);
  for (const std::string& note : run.notes) PutColored(WarningColor(), OneLine(note, 400));
  ImGui::EndTooltip();
}

}  // namespace

void DrawTitleBar(const LoadedRun& loaded, const std::string& shown, Controls& controls) {
  const Sizes sizes = ScreenSizes();
  const float left = ImGui::GetCursorPosX(), gap = sizes.font;
  const float right = ImGui::GetWindowWidth() - ImGui::GetStyle().WindowPadding.x;
  const ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), {});
  const Title title = FitTitle(canvas, loaded, shown, gap, std::max(right - left, 0.0F));
  ImGui::BeginGroup();
  Put(title.name);
  if (!title.time.empty()) {
    ImGui::SameLine(0, gap);
    PutColored(DimColor(), title.time);
  }
  if (!title.shown.empty()) {
    ImGui::SameLine(0, gap);
    Put(title.shown);
  }
  if (!title.remarks.empty()) {
    ImGui::SameLine(0, gap);
    PutColored(WarningColor(), title.remarks);
  }
  ImGui::EndGroup();
  controls.NoteItem("title");
  if (ImGui::IsItemHovered()) DrawTooltip(TitleOf(loaded, shown), loaded.run);
}

}  // namespace traceinject
