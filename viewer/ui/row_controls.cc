// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/row_controls.h"

#include <imgui.h>

#include <algorithm>
#include <string>

namespace traceinject {
namespace {

constexpr const char* kMenu = "row menu";

}  // namespace

void RowControls::Draw(Timeline& timeline, float x, float y) {
  const bool on_labels = ImGui::GetMousePos().x < x + timeline.Plot().left;
  if (ImGui::IsItemHovered() && on_labels && ImGui::IsMouseReleased(ImGuiMouseButton_Right)) {
    menu_row_ = timeline.PointerRow();
    ImGui::OpenPopup(kMenu);
  }
  const ImVec2 after = ImGui::GetCursorScreenPos();
  DrawMenu(timeline);
  DrawFilter(timeline, x, y);
  ImGui::SetCursorScreenPos(after);
}

// In the left half of the ruler's corner; the right half says how much time is shown.
void RowControls::DrawFilter(Timeline& timeline, float x, float y) {
  const std::string& filter = timeline.row_list().choices().filter;
  if (!ImGui::IsAnyItemActive() && filter != filter_.data()) {
    filter_.fill(0);
    std::copy_n(filter.begin(), std::min(filter.size(), filter_.size() - 1), filter_.begin());
  }
  const Sizes& sizes = timeline.sizes();
  const float gap = 2 * sizes.line;
  ImGui::SetCursorScreenPos({x + gap, y + gap});
  ImGui::SetNextItemWidth(timeline.Plot().left / 2);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(sizes.text_pad, (sizes.ruler - 2 * gap - sizes.font) / 2));
  const std::size_t hidden = timeline.row_list().choices().hidden.size();
  const std::string hint =
      hidden == 0 ? "filter rows" : "filter rows (" + std::to_string(hidden) + " hidden)";
  if (ImGui::InputTextWithHint("##filter", hint.c_str(), filter_.data(), filter_.size())) {
    timeline.ChangeRows([this](RowList& list) { list.SetFilter(filter_.data()); });
  }
  ImGui::PopStyleVar();
}

void RowControls::DrawMenu(Timeline& timeline) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding,
                      ImVec2(timeline.sizes().menu_pad_x, timeline.sizes().menu_pad_y));
  if (ImGui::BeginPopup(kMenu)) {
    const RowList& rows = timeline.row_list();
    if (menu_row_ != kNone) {
      const std::uint32_t row = menu_row_;
      const bool heading = IsHeading(timeline.model().rows[row].kind);
      const auto item = [&](const char* title, bool possible, auto change) {
        if (ImGui::MenuItem(title, nullptr, false, possible)) {
          timeline.ChangeRows([&](RowList& list) { change(list, row); });
        }
      };
      if (rows.IsGroup(row)) {
        item(rows.IsCollapsed(row) ? "Open" : "Collapse", true,
             [](RowList& list, std::uint32_t at) { list.ToggleCollapsed(at); });
      }
      item(rows.IsPinned(row) ? "Unpin" : "Pin to the top", !heading,
           [](RowList& list, std::uint32_t at) { list.TogglePinned(at); });
      item("Hide", true, [](RowList& list, std::uint32_t at) { list.Hide(at); });
      item("Move up", true, [](RowList& list, std::uint32_t at) { list.Move(at, -1); });
      item("Move down", true, [](RowList& list, std::uint32_t at) { list.Move(at, 1); });
      ImGui::Separator();
    }
    if (ImGui::MenuItem("Reset rows")) timeline.Do(CommandId::kResetRows);
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

}  // namespace traceinject
