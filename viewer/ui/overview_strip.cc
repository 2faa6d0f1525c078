// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/overview_strip.h"

#include <algorithm>

#include "viewer/ui/widgets/imgui_canvas.h"

namespace traceinject {

void DrawOverview(Overview& overview, Timeline& timeline, const std::vector<bool>& marks,
                  Controls& controls) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  const Sizes sizes = ScreenSizes();
  const float height = overview.HeightFor(sizes);
  overview.Resize(width, height, std::min(sizes.label, width / 2), sizes);
  ImGui::InvisibleButton("overview", {width, height});
  controls.NoteItem("overview");

  const TimelineView& view = timeline.view();
  const float x = ImGui::GetIO().MousePos.x - origin.x;
  std::optional<Interval> next;
  if (ImGui::IsItemActivated()) {
    timeline.EndSteps();
    overview.Press(x, {view.start_ns(), view.end_ns()});
  } else if (ImGui::IsItemActive()) {
    next = overview.Drag(x);
  } else if (ImGui::IsItemDeactivated()) {
    next = overview.Release(x);
  }
  if (next) timeline.StepTo(next->start, next->end);
  const Interval shown{view.start_ns(), view.end_ns()};
  if ((ImGui::IsItemHovered() || overview.dragging()) && overview.OnEdge(x, shown)) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  }
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), origin);
  overview.Paint(shown, marks, canvas, ThemeOf(timeline.look().theme));
}

}  // namespace traceinject
