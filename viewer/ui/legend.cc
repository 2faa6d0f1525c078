// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/legend.h"

#include <fmt/format.h>
#include <imgui.h>

#include "viewer/ui/widgets/imgui_canvas.h"
#include "viewer/ui/widgets/imgui_theme.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {
namespace {

constexpr int kMaxLines = 3;
constexpr float kDimmed = 0.4F;  // opacity of what is not in view

float PatchPx(const Sizes& sizes) { return sizes.font - 4 * sizes.line; }

float Width(const LegendEntry& entry, const Sizes& sizes) {
  const float patch = entry.color == 0 ? 0 : PatchPx(sizes) + sizes.patch_gap;
  return patch + ImGui::CalcTextSize(entry.text.c_str()).x + sizes.font;
}

void DrawEntry(const LegendEntry& entry, bool in_view, ImVec2 at, const Sizes& sizes) {
  const float opacity = in_view ? 1 : kDimmed;
  if (entry.color != 0) {
    const float side = PatchPx(sizes), top = at.y + 2 * sizes.line;
    const auto alpha = static_cast<float>(entry.color & 0xff) * opacity;
    ImGui::GetWindowDrawList()->AddRectFilled(
        {at.x, top}, {at.x + side, top + side},
        ToImGui(WithAlpha(entry.color, static_cast<unsigned>(alpha))));
    at.x += side + sizes.patch_gap;
  }
  ImVec4 color = in_view ? ImGui::GetStyleColorVec4(ImGuiCol_Text) : DimColor();
  color.w *= opacity;
  ImGui::SetCursorScreenPos(at);
  PutColored(color, entry.text);
}

void DrawMore(const std::vector<LegendEntry>& entries, const Painted& painted, std::size_t shown,
              ImVec2 at, const Sizes& sizes) {
  ImGui::SetCursorScreenPos(at);
  PutColored(DimColor(), fmt::format("+ {} more", entries.size() - shown));
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  for (std::size_t i = shown; i < entries.size(); ++i) {
    DrawEntry(entries[i], entries[i].meaning.Overlaps(painted), ImGui::GetCursorScreenPos(), sizes);
  }
  ImGui::EndTooltip();
}

}  // namespace

void DrawLegend(const std::vector<LegendEntry>& entries, const Painted& painted,
                Controls& controls) {
  const Sizes sizes = ScreenSizes();
  std::vector<float> widths;
  for (const LegendEntry& entry : entries) widths.push_back(Width(entry, sizes));
  const float room = ImGui::GetContentRegionAvail().x;
  const float line_px = ImGui::GetTextLineHeightWithSpacing();
  const float more_px = ImGui::CalcTextSize("+ 99 more").x;
  const std::vector<LegendPlace> places = PlaceLegend(widths, room, kMaxLines, more_px);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  for (std::size_t i = 0; i < places.size(); ++i) {
    DrawEntry(entries[i], entries[i].meaning.Overlaps(painted),
              {origin.x + places[i].x, origin.y + static_cast<float>(places[i].line) * line_px},
              sizes);
    controls.NoteItem("legend: " + entries[i].text);
  }
  const bool all = places.size() == entries.size();
  const int lines = all && !places.empty() ? places.back().line + 1 : all ? 1 : kMaxLines;
  if (!all) {
    DrawMore(entries, painted, places.size(),
             {origin.x + room - more_px, origin.y + static_cast<float>(lines - 1) * line_px},
             sizes);
  }
  ImGui::SetCursorScreenPos({origin.x, origin.y + static_cast<float>(lines) * line_px});
}

}  // namespace traceinject
