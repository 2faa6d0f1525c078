// SPDX-License-Identifier: Apache-2.0
// The whole window, one frame at a time. Works with any ImGui back end: keys come as a list, since
// ImGui's own (1.86) loses those that go down and up within a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/view/style/legend.h"
#include "viewer/core/load/background_load.h"
#include "viewer/core/load/background_report.h"
#include "viewer/core/paint/paint_timeline.h"
#include "viewer/core/session/first_view.h"
#include "viewer/core/session/workspace.h"
#include "viewer/core/timeline/overview.h"
#include "viewer/core/timeline/shading.h"
#include "viewer/ui/command_palette.h"
#include "viewer/ui/panels/open_dialog.h"
#include "viewer/ui/panels/panel_area.h"
#include "viewer/ui/row_controls.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

class ViewerUi {
 public:
  // `what`: what is being read, for the progress display. Empty: nothing is, and a recording is to
  // be chosen. `judge`: works out the verdict, perhaps for others too that show the same runs.
  explicit ViewerUi(std::string what,
                    std::shared_ptr<ReportTask> judge = std::make_shared<ReportTask>(ReportOn))
      : what_(std::move(what)), judge_(std::move(judge)) {}

  // From the next recording on nothing is kept beside it, nor read from there.
  void KeepNothing() { keeps_ = false; }
  // From the next recording on another viewer saves what is kept beside it.
  void LeaveSidecarToAnother() { saves_ = false; }
  // From the next recording on it is shown there.
  void SetPlace(ShownIn place) { place_ = place; }
  // Whether recordings show, from the next one on, what was judged once that is known, and not all:
  // see FirstView. Not if a stretch of time is asked for.
  void LeadToVerdict(bool leads) { leads_ = leads; }
  const FirstView& first_view() const { return first_view_; }
  // What is shown is what was asked for: it stays when the verdict comes.
  void KeepView() { first_view_.Keep(); }
  // How the window looks from the next frame on.
  void SetLook(const Look& look);
  // What is being read now; empty when nothing is.
  void SetProgress(const std::optional<LoadProgress>& progress) { progress_ = progress; }
  // What the user may want to open again.
  void SetRecent(std::vector<std::string> recent) { recent_ = std::move(recent); }
  // What the user chose to open since the last call; empty: nothing.
  std::string TakeChosen() { return std::exchange(chosen_, {}); }
  // The window is to be closed.
  bool wants_quit() const { return wants_quit_ || (workspace_ && workspace_->wants_quit()); }
  // Says what went wrong, over whatever is shown, until it is closed or something else is opened.
  void SetProblem(std::string message) { problem_ = std::move(message); }
  // From here on `what` is being read; what is shown stays until it is there.
  void SetOpening(std::string what);
  // From here on the timeline is shown: all of it, or [from_ns, to_ns) relative to the first GPU
  // operation.
  void SetLoaded(std::shared_ptr<const LoadedRun> loaded, std::optional<TimeNs> from_ns,
                 std::optional<TimeNs> to_ns);

  // The run that is shown, read anew: time, rows and selection stay as they are. Returns what was
  // shown, for the caller to free where that takes no time from a frame.
  std::shared_ptr<const LoadedRun> Replace(std::shared_ptr<const LoadedRun> loaded);

  // Between ImGui::NewFrame and ImGui::Render. `keys`: pressed since the last frame, in order.
  void Frame(const std::vector<KeyPress>& keys);

  // Makes [start_ns, end_ns) of the run's time visible, once loaded.
  void Show(TimeNs start_ns, TimeNs end_ns) { workspace_->timeline().Show(start_ns, end_ns); }

  // The tab with that title, if there is one.
  void ShowTab(std::string_view title) {
    if (const auto tab = TabTitled(title)) panels_->Show(*tab);
  }

  // Null until loaded.
  Workspace* workspace() { return workspace_ ? &*workspace_ : nullptr; }
  const Workspace* workspace() const { return workspace_ ? &*workspace_ : nullptr; }
  const Timeline* timeline() const { return workspace_ ? &workspace_->timeline() : nullptr; }
  const PanelArea* panels() const { return panels_.get(); }
  const OpenDialog& open_dialog() const { return dialog_; }
  const Controls& controls() const { return controls_; }
  // Whether a panel waits for figures that are being worked out, or something is being saved: the
  // next frames will differ.
  bool busy() const {
    return judge_->busy() || NewReport() || shade_.busy() || dialog_.busy() ||
           (panels_ && panels_->busy()) || (workspace_ && workspace_->sidecar().busy());
  }
  // Until nothing is.
  void WaitForPanels() const {
    judge_->Wait();
    shade_.Wait();
    dialog_.Wait();
    if (workspace_) workspace_->sidecar().Wait();
    if (panels_) panels_->Wait();
  }
  // Of the run that is shown; of one that grows perhaps of an earlier state. Null until there is
  // one.
  const proto::Report* report() const { return report_ ? &report_->report : nullptr; }
  // What is shaded on the timeline; null while nothing is.
  const Shading* shading() const { return shading_.get(); }
  // Where the timeline's top left is in the window, as of the last frame.
  std::pair<float, float> timeline_origin() const { return timeline_origin_; }

 private:
  void DrawOpening();
  void DrawStart(const std::vector<KeyPress>& keys);
  void DrawDialog(const std::vector<KeyPress>& keys);
  void Judge();
  // That was worked out since the last frame; null: none was.
  std::shared_ptr<const RunReport> NewReport() const;
  void TakeReport();
  void NoticeUser(const std::vector<KeyPress>& keys);
  void Lead();
  const std::vector<LegendEntry>& Legend();
  void Shade();
  void TakeKeys(const std::vector<KeyPress>& keys);
  void ShowTabs();
  void DrawMenuBar();
  void DrawTimeline(float height_px);
  void DrawUnderPointer();
  void FeedMouse(float origin_x, float origin_y);
  void DrawPanels(const std::vector<KeyPress>& keys);

  std::string what_;
  std::optional<LoadProgress> progress_;
  std::string problem_;
  bool keeps_ = true, saves_ = true, leads_ = false;
  ShownIn place_ = ShownIn::kWindow;
  std::shared_ptr<ReportTask> judge_;
  ShadingTask shade_{ShadingOf};
  int opening_ = 0;  // counts the runs shown
  std::shared_ptr<const RunReport> report_;
  FirstView first_view_;
  std::shared_ptr<const Shading> shading_;  // null: nothing is shaded
  std::shared_ptr<const LoadedRun> loaded_;
  std::optional<Workspace> workspace_;
  std::optional<Overview> overview_;
  std::unique_ptr<PanelArea> panels_;
  Controls controls_;
  std::pair<float, float> timeline_origin_ = {0, 0};
  CommandPalette palette_;
  OpenDialog dialog_;
  std::vector<std::string> recent_;
  std::string chosen_;
  bool wants_quit_ = false;                         // while there is no workspace to ask
  Look look_;                                       // before there is a timeline to ask
  Painted painted_;                                 // in the last frame
  std::optional<std::vector<LegendEntry>> legend_;  // of the run that is shown, once asked for
  Look legend_look_;                                // that it is of
  RowControls row_controls_;
};

}  // namespace traceinject
