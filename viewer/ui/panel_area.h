// SPDX-License-Identifier: Apache-2.0
// The area below the timeline: a tab for each panel, and a line above to drag for more room.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/verdict/add_verdict.h"
#include "viewer/core/background_load.h"
#include "viewer/core/latest_task.h"
#include "viewer/core/timeline.h"
#include "viewer/ui/details_panel.h"
#include "viewer/ui/find_panel.h"
#include "viewer/ui/statistics_panel.h"
#include "viewer/ui/widgets.h"

namespace traceinject {

enum class PanelTab : std::uint8_t { kVerdict, kDetails, kStatistics, kFind };

class PanelArea {
 public:
  // Begins to work out the verdict, on a thread of its own. `loaded` must outlive this.
  explicit PanelArea(const LoadedRun& loaded);

  // What the area takes of a window of this height, the line above included.
  float Height(float window_px) const;
  // The rest of the window from ImGui's cursor on.
  void Draw(Timeline& timeline, Controls& controls);

  void Show(PanelTab tab) { wanted_ = tab; }
  // The Find panel, with the caret in its field.
  void ShowFind();
  PanelTab tab() const { return tab_; }

  const StatisticsPanel& statistics() const { return statistics_; }
  const FindPanel& find() const { return find_; }
  // Null until it is worked out.
  const proto::Report* report() const { return report_.get(); }

  // Whether something that shows is still being worked out.
  bool busy() const;
  void Wait() const;

 private:
  void DrawSplitter(Controls& controls);
  void FollowTimeline(const Timeline& timeline);
  void DrawPanel(PanelTab tab, Timeline& timeline, Controls& controls);

  LatestTask<int, proto::Report> judge_;
  std::shared_ptr<const proto::Report> report_;
  DetailsPanel details_;
  StatisticsPanel statistics_;
  FindPanel find_;
  PanelTab tab_ = PanelTab::kVerdict;
  std::optional<PanelTab> wanted_;
  std::optional<float> height_px_;  // as dragged
  // Of the timeline, in the last frame.
  std::optional<EventRef> selection_;
  bool measured_ = false;
};

}  // namespace traceinject
