// SPDX-License-Identifier: Apache-2.0
// The area below the timeline: a tab for each panel, and a line above to drag for more room.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schemas/report.pb.h"
#include "viewer/core/load/background_load.h"
#include "viewer/core/session/workspace.h"
#include "viewer/core/timeline/shading.h"
#include "viewer/ui/panels/code_panel.h"
#include "viewer/ui/panels/details_panel.h"
#include "viewer/ui/panels/find_panel.h"
#include "viewer/ui/panels/marks_panel.h"
#include "viewer/ui/panels/statistics_panel.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

enum class PanelTab : std::uint8_t { kVerdict, kDetails, kCode, kStatistics, kFind, kMarks };

std::string_view TabTitle(PanelTab tab);
// Empty: none is called that.
std::optional<PanelTab> TabTitled(std::string_view title);

class PanelArea {
 public:
  // `loaded` must outlive this.
  explicit PanelArea(const LoadedRun& loaded);

  // What the area takes of a window of this height, the line above included.
  float Height(float window_px) const;
  // The same run was read anew: what was chosen and looked for stays.
  void ContinueFrom(const PanelArea& before);
  // The rest of the window from ImGui's cursor on. `report`, `shading`: null until there is one.
  void Draw(Workspace& workspace, const proto::Report* report, const Shading* shading,
            Controls& controls);

  void Show(PanelTab tab) { wanted_ = tab; }
  // The Find panel, with the caret in its field.
  void ShowFind();
  PanelTab tab() const { return tab_; }

  const CodePanel& code() const { return code_; }
  const StatisticsPanel& statistics() const { return statistics_; }
  const FindPanel& find() const { return find_; }

  // Whether something that shows is still being counted or looked for.
  bool busy() const;
  void Wait() const;

 private:
  void DrawSplitter(Controls& controls);
  void FollowTimeline(const Timeline& timeline);
  void DrawPanel(PanelTab tab, Workspace& workspace, const proto::Report* report,
                 const Shading* shading, Controls& controls);

  bool whole_;  // all of the run was read
  DetailsPanel details_;
  CodePanel code_;
  StatisticsPanel statistics_;
  FindPanel find_;
  MarksPanel marks_;
  PanelTab tab_ = PanelTab::kVerdict;
  std::optional<PanelTab> wanted_;
  std::optional<float> height_px_;  // as dragged
  // Of the timeline, in the last frame.
  std::optional<EventRef> selection_;
  bool measured_ = false;
};

}  // namespace traceinject
