// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/viewer_ui.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "viewer/core/paint/paint_links.h"
#include "viewer/core/paint/paint_marks.h"
#include "viewer/core/paint/paint_shading.h"
#include "viewer/core/timeline/evidence_place.h"
#include "viewer/ui/legend.h"
#include "viewer/ui/menu_bar.h"
#include "viewer/ui/overview_strip.h"
#include "viewer/ui/panels/help_panel.h"
#include "viewer/ui/panels/opening_panel.h"
#include "viewer/ui/panels/progress_panel.h"
#include "viewer/ui/title_bar.h"
#include "viewer/ui/tooltip.h"
#include "viewer/ui/widgets/imgui_canvas.h"
#include "viewer/ui/widgets/imgui_theme.h"

namespace traceinject {
namespace {

Modifiers HeldKeys() {
  const ImGuiIO& io = ImGui::GetIO();
  return {io.KeyCtrl, io.KeyShift, io.KeyAlt};
}

}  // namespace

void ViewerUi::SetLoaded(std::shared_ptr<const LoadedRun> loaded, std::optional<TimeNs> from_ns,
                         std::optional<TimeNs> to_ns) {
  // What reads the run before goes before it.
  if (workspace_) look_ = workspace_->timeline().look();
  panels_.reset();
  overview_.reset();
  workspace_.reset();
  loaded_ = std::move(loaded);
  workspace_.emplace(loaded_->run, loaded_->rows, &loaded_->links,
                     keeps_ ? SidecarPath(loaded_->run) : "");
  workspace_->timeline().SetLook(look_);
  workspace_->SetPlace(place_);
  if (!saves_) workspace_->LeaveSidecarToAnother();
  overview_.emplace(loaded_->rows);
  panels_ = std::make_unique<PanelArea>(*loaded_);
  report_.reset();
  legend_.reset();
  shading_.reset();
  shade_.Ask({});  // which lets go of the run before
  ++opening_;
  Judge();
  first_view_.Begin(leads_ && !from_ns && !to_ns);
  if (from_ns || to_ns) workspace_->Show(from_ns, to_ns);
}

std::shared_ptr<const LoadedRun> ViewerUi::Replace(std::shared_ptr<const LoadedRun> loaded) {
  Workspace workspace(loaded->run, loaded->rows, &loaded->links, std::move(*workspace_));
  workspace_.emplace(std::move(workspace));
  overview_.emplace(loaded->rows);
  const std::unique_ptr<const PanelArea> before = std::move(panels_);
  std::shared_ptr<const LoadedRun> shown = std::exchange(loaded_, std::move(loaded));
  panels_ = std::make_unique<PanelArea>(*loaded_);
  panels_->ContinueFrom(*before);
  legend_.reset();
  Judge();
  return shown;
}

// Half a run has another verdict.
void ViewerUi::Judge() {
  if (IsWhole(loaded_->run)) judge_->Ask({loaded_, opening_});
}

std::shared_ptr<const RunReport> ViewerUi::NewReport() const {
  auto newest = judge_->answer();
  return newest && newest->opening == opening_ && newest != report_ ? newest : nullptr;
}

void ViewerUi::TakeReport() {
  auto newest = NewReport();
  if (!newest) return;
  report_ = std::move(newest);
  if (report_->loaded != loaded_) return;  // of an earlier state: it knows other ranks
  const std::set<std::uint32_t> ranks = RanksIn(loaded_->run, report_->report.verdict());
  workspace_->timeline().ChangeRows([&ranks](RowList& list) { list.OpenRanks(ranks); });
}

// Whoever presses a key, a button or turns the wheel keeps what is shown.
void ViewerUi::NoticeUser(const std::vector<KeyPress>& keys) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool clicks = std::ranges::any_of(io.MouseClicked, [](bool clicked) { return clicked; });
  if (clicks || !keys.empty() || io.MouseWheel != 0 || io.MouseWheelH != 0) first_view_.Keep();
}

// Once the timeline knows its size: from its second frame on.
void ViewerUi::Lead() {
  Timeline& timeline = workspace_->timeline();
  const bool has_size = timeline.Plot().height() > 0;
  if (has_size && report_ && report_->loaded == loaded_) first_view_.Lead(*report_, timeline);
}

// Made anew only for another run or look: it takes a visit to every row.
const std::vector<LegendEntry>& ViewerUi::Legend() {
  const Look& look = workspace_->timeline().look();
  if (!legend_ || !(legend_look_ == look)) {
    legend_look_ = look;
    legend_ = LegendOf(Paintable(loaded_->rows, look), look);
  }
  return *legend_;
}

// What is shaded stays until what was picked instead is found.
void ViewerUi::Shade() {
  const std::string& label = workspace_->shaded();
  if (label.empty() || !report_) return shading_.reset();
  shade_.Ask({loaded_, report_, label});
  if (auto newest = shade_.answer(); newest && newest->label() == label) shading_ = newest;
}

void ViewerUi::SetOpening(std::string what) {
  what_ = std::move(what);
  problem_.clear();
}

void ViewerUi::DrawOpening() {
  if (!problem_.empty()) {
    if (!DrawProblem(what_, problem_, controls_)) return;
    problem_.clear();
    if (!workspace_) what_.clear();  // something else is to be chosen
  } else if (progress_ && workspace_) {
    DrawReadingNote(*progress_, what_);
  }
}

void ViewerUi::SetLook(const Look& look) {
  look_ = look;
  if (workspace_) workspace_->timeline().SetLook(look);
}

void ViewerUi::Frame(const std::vector<KeyPress>& keys) {
  ApplyTheme(ThemeOf(workspace_ ? workspace_->timeline().look().theme : look_.theme));
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("traceview", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollWithMouse |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_MenuBar);
  controls_.Clear();
  if (!workspace_) {
    if (problem_.empty() && !what_.empty()) DrawProgress(progress_.value_or(LoadProgress{}), what_);
    ImGui::End();
    DrawStart(keys);
    DrawOpening();
    return;
  }
  NoticeUser(keys);
  TakeReport();
  Lead();
  Shade();
  // The palette takes keys as it was when they were pressed: not the one that opens it.
  const bool palette = workspace_->IsShown(Panel::kPalette);
  const bool dialog = workspace_->IsShown(Panel::kOpenDialog);
  TakeKeys(keys);
  DrawMenuBar();
  DrawLegend(Legend(), painted_, controls_);
  if (const std::string& problem = workspace_->sidecar().problem(); !problem.empty()) {
    PutColored(WarningColor(), problem);
  }
  ShowTabs();
  DrawOverview(*overview_, workspace_->timeline(), panels_->find().marks(), controls_);
  const bool panels = workspace_->IsShown(Panel::kDetails);
  const float panels_px = panels ? panels_->Height(ImGui::GetIO().DisplaySize.y) : 0;
  DrawTimeline(std::max(ImGui::GetContentRegionAvail().y - panels_px, 4 * ScreenSizes().ruler));
  if (panels) panels_->Draw(*workspace_, report(), shading(), controls_);
  ImGui::End();
  DrawPanels(palette ? keys : std::vector<KeyPress>{});
  if (workspace_->IsShown(Panel::kOpenDialog)) {
    DrawDialog(dialog ? keys : std::vector<KeyPress>{});
  } else {
    dialog_.Close();
  }
  workspace_->KeepRows();
  DrawOpening();
}

// Without a recording the window asks for one.
void ViewerUi::DrawStart(const std::vector<KeyPress>& keys) {
  for (const KeyPress& press : keys) wants_quit_ |= CommandFor(press) == CommandId::kQuit;
  if (what_.empty() && problem_.empty()) DrawDialog(keys);
}

void ViewerUi::DrawDialog(const std::vector<KeyPress>& keys) {
  std::optional<std::string> chosen = dialog_.Draw(keys, recent_, controls_);
  if (!chosen) return;
  chosen_ = *std::move(chosen);
  if (workspace_) workspace_->SetShown(Panel::kOpenDialog, false);
}

// These panels are tabs: once they are shown they are as any other.
void ViewerUi::ShowTabs() {
  for (const Panel panel : {Panel::kFind, Panel::kMarks}) {
    if (!workspace_->IsShown(panel)) continue;
    workspace_->SetShown(panel, false);
    workspace_->SetShown(Panel::kDetails, true);
    panel == Panel::kFind ? panels_->ShowFind() : panels_->Show(PanelTab::kMarks);
  }
}

// While something is typed, keys without Ctrl belong to the text; but Esc closes.
void ViewerUi::TakeKeys(const std::vector<KeyPress>& keys) {
  for (const KeyPress& press : keys) {
    const bool typing = ImGui::GetIO().WantTextInput || workspace_->IsShown(Panel::kPalette) ||
                        workspace_->IsShown(Panel::kOpenDialog);
    if (typing && !press.held.control && press.key != Key::kEscape) continue;
    if (const auto command = CommandFor(press)) workspace_->Do(*command);
  }
}

void ViewerUi::DrawMenuBar() {
  if (!ImGui::BeginMenuBar()) return;
  DrawMenus(*workspace_);
  DrawTitleBar(*loaded_, first_view_.Text(workspace_->timeline()), controls_);
  const char* const hint = "? or F1: help";
  const float padding = 2 * ImGui::GetStyle().WindowPadding.x;
  const float left = ImGui::GetWindowWidth() - ImGui::CalcTextSize(hint).x - padding;
  if (ImGui::GetCursorPosX() <= left) {  // the menus say it too
    ImGui::SameLine(left);
    ImGui::TextDisabled("%s", hint);
    controls_.NoteItem("help hint");
  }
  ImGui::EndMenuBar();
}

void ViewerUi::DrawTimeline(float height_px) {
  Timeline& timeline = workspace_->timeline();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  timeline_origin_ = {origin.x, origin.y};
  const float width_px = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  timeline.Resize(width_px, height_px, ScreenSizes());
  ImGui::InvisibleButton("timeline", {width_px, height_px},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemAllowOverlap();
  controls_.NoteItem("timeline");
  FeedMouse(origin.x, origin.y);
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), origin);
  painted_ = PaintTimeline(timeline, canvas);
  if (shading_) PaintShading(timeline, *shading_, canvas);
  PaintLinks(timeline, canvas);
  PaintMarks(*workspace_, canvas);
  row_controls_.Draw(timeline, origin.x, origin.y);
  DrawUnderPointer();
}

void ViewerUi::DrawUnderPointer() {
  const Timeline& timeline = workspace_->timeline();
  if (timeline.OverMeasureEdge()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  const auto mark = workspace_->MarkAt(timeline.pointer_x(), timeline.pointer_y());
  if (mark && !workspace_->annotations().marks()[*mark].text.empty()) {
    ImGui::SetTooltip("%s", workspace_->annotations().marks()[*mark].text.c_str());
  } else if (timeline.hover()) {
    DrawTooltip(timeline, *timeline.hover());
  }
}

void ViewerUi::FeedMouse(float origin_x, float origin_y) {
  const ImGuiIO& io = ImGui::GetIO();
  Timeline& timeline = workspace_->timeline();
  // A button that is let go elsewhere ends what it began here.
  const bool hovered = ImGui::IsItemHovered();
  const bool active = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
  if (!hovered && !active) {
    timeline.PointerLeft();
    return;
  }
  timeline.MovePointer(io.MousePos.x - origin_x, io.MousePos.y - origin_y, HeldKeys());
  constexpr std::pair<ImGuiMouseButton, PointerButton> kButtons[] = {
      {ImGuiMouseButton_Left, PointerButton::kLeft},
      {ImGuiMouseButton_Right, PointerButton::kRight},
      {ImGuiMouseButton_Middle, PointerButton::kMiddle}};
  for (const auto& [imgui, button] : kButtons) {
    if (ImGui::IsMouseClicked(imgui)) {
      workspace_->Press(button, ImGui::IsMouseDoubleClicked(imgui), HeldKeys());
    }
    if (ImGui::IsMouseReleased(imgui)) timeline.Release(button);
  }
  if (io.MouseWheel != 0) timeline.Turn({io.MouseWheel, io.KeyCtrl, io.KeyShift});
  if (io.MouseWheelH != 0) timeline.Turn({io.MouseWheelH, false, true});
}

// What lies over the timeline.
void ViewerUi::DrawPanels(const std::vector<KeyPress>& keys) {
  if (!workspace_->notice().empty()) DrawNotice(workspace_->notice());
  if (workspace_->IsShown(Panel::kHelp)) DrawHelp(workspace_->place());
  if (!workspace_->IsShown(Panel::kPalette)) {
    palette_.Close();
  } else if (const auto command = palette_.Draw(keys, workspace_->place())) {
    workspace_->SetShown(Panel::kPalette, false);
    workspace_->Do(*command);
  }
}

}  // namespace traceinject
