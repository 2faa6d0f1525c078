// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/marks_panel.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <string>

#include "analyzer/common/units.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/ui/widgets/imgui_canvas.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {
namespace {

constexpr float kTextEms = 34;  // width of the field for the text
constexpr ImGuiColorEditFlags kSwatch =
    ImGuiColorEditFlags_NoTooltip | ImGuiColorEditFlags_NoDragDrop | ImGuiColorEditFlags_NoAlpha;

bool Swatch(const char* id, Rgba color, float size) {
  return ImGui::ColorButton(id, ImGui::ColorConvertU32ToFloat4(ToImGui(color)), kSwatch,
                            {size, size});
}

void DrawList(Workspace& workspace, Controls& controls) {
  ImGui::BeginChild("list");
  const RowModel& model = workspace.timeline().model();
  const std::vector<Mark>& marks = workspace.annotations().marks();
  const Sizes sizes = ScreenSizes();
  const float em = sizes.font;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(marks.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const auto index = static_cast<std::size_t>(i);
      const Mark& mark = marks[index];
      ImGui::PushID(i);
      if (ImGui::Selectable("##mark", workspace.selected_mark() == index,
                            ImGuiSelectableFlags_AllowDoubleClick)) {
        ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) ? workspace.JumpToMark(index)
                                                           : workspace.SelectMark(index);
      }
      controls.NoteItem(fmt::format("mark {}", i));
      ImGui::SameLine(2 * sizes.line);
      Swatch("##colour", mark.color, em - 2 * sizes.line);
      ImGui::SameLine(2 * em);
      Put(FormatMoment(model, mark.start));
      ImGui::SameLine(11 * em);
      Put(mark.end > mark.start ? FormatTime(mark.end - mark.start) : "moment");
      ImGui::SameLine(17 * em);
      PutCut(ImGui::GetStyleColorVec4(ImGuiCol_Text), mark.text);
      ImGui::PopID();
    }
  }
  ImGui::EndChild();
}

}  // namespace

void MarksPanel::Draw(Workspace& workspace, Controls& controls) {
  DrawEditor(workspace, controls);
  ImGui::Separator();
  DrawList(workspace, controls);
}

void MarksPanel::DrawEditor(Workspace& workspace, Controls& controls) {
  if (!workspace.selected_mark()) {
    edited_.reset();
    PutColored(DimColor(),
               "M marks the measured range or the time at the pointer. Select a mark to edit it.");
    return;
  }
  const std::size_t index = *workspace.selected_mark();
  const Mark mark = workspace.annotations().marks()[index];
  if (edited_ != mark) {
    edited_ = mark;
    text_.fill(0);
    mark.text.copy(text_.data(), text_.size() - 1);
  }
  if (workspace.TakeWantsMarkText()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(
      std::min(kTextEms * ImGui::GetFontSize(), ImGui::GetContentRegionAvail().x));
  Mark changed = mark;
  if (ImGui::InputTextWithHint("##text", "text of the mark", text_.data(), text_.size())) {
    changed.text = text_.data();
  }
  controls.NoteItem("mark: text");
  ImGui::SameLine();
  const float size = ImGui::GetFontSize();
  for (const Rgba color : MarkColors()) {
    if (Swatch(std::to_string(color).c_str(), color, size)) changed.color = color;
    controls.NoteItem(fmt::format("mark: colour {:06x}", color >> 8));
    ImGui::SameLine();
  }
  if (changed != mark) {
    workspace.ChangeMark(index, changed);
    // What is typed stays in the field as it was typed.
    edited_ = workspace.annotations().marks()[*workspace.selected_mark()];
  }
  const bool jump = ImGui::SmallButton("show");
  controls.NoteItem("mark: show");
  ImGui::SameLine();
  const bool remove = ImGui::SmallButton("delete");
  controls.NoteItem("mark: delete");
  if (jump) workspace.JumpToMark(*workspace.selected_mark());
  if (remove) workspace.DeleteMark(*workspace.selected_mark());
}

}  // namespace traceinject
