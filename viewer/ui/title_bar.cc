// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/title_bar.h"

#include <fmt/format.h>

#include "analyzer/common/units.h"
#include "viewer/ui/widgets.h"

namespace traceinject {

void DrawTitleBar(const LoadedRun& loaded) {
  const Run& run = loaded.run;
  std::string title = OneLine(run.ranks.front().path, 80);
  if (run.ranks.size() > 1) title += fmt::format(" and {} more", run.ranks.size() - 1);
  Put(title);
  ImGui::SameLine();
  PutColoured(DimColour(),
              fmt::format("  {} from {}", FormatTime(loaded.rows.end - loaded.rows.start),
                          FormatDate(run.base_ns + loaded.rows.start)));
  if (!run.notes.empty()) {
    ImGui::SameLine();
    PutColoured(WarningColour(), fmt::format("  {} remark{} on the recording", run.notes.size(),
                                             run.notes.size() == 1 ? "" : "s"));
    if (ImGui::IsItemHovered()) {
      ImGui::BeginTooltip();
      for (const std::string& note : run.notes) Put(OneLine(note, 400));
      ImGui::EndTooltip();
    }
  }
}

}  // namespace traceinject
