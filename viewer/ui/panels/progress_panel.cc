// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/progress_panel.h"

#include "analyzer/common/units.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

void DrawProgress(const LoadProgress& progress, const std::string& what) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  ImGui::SetCursorPos({room.x / 4, room.y / 2});
  Put("Reading " + OneLine(what));
  ImGui::SetCursorPosX(room.x / 4);
  ImGui::ProgressBar(static_cast<float>(progress.share), {room.x / 2, 0});
  ImGui::SetCursorPosX(room.x / 4);
  PutColored(DimColor(), FormatCount(static_cast<std::int64_t>(progress.rows)) + " events");
}

}  // namespace traceinject
