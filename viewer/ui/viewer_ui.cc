// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/viewer_ui.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "viewer/ui/help_panel.h"
#include "viewer/ui/imgui_canvas.h"
#include "viewer/ui/imgui_theme.h"
#include "viewer/ui/legend.h"
#include "viewer/ui/opening_panel.h"
#include "viewer/ui/overview_strip.h"
#include "viewer/ui/progress_panel.h"
#include "viewer/ui/title_bar.h"
#include "viewer/ui/tooltip.h"

namespace traceinject {
namespace {

constexpr float kLabelEms = 22;  // width of the column of row labels, in heights of the font

}  // namespace

void ViewerUi::SetLoaded(std::unique_ptr<const LoadedRun> loaded, std::optional<TimeNs> from_ns,
                         std::optional<TimeNs> to_ns) {
  // What reads the run before goes before it.
  if (timeline_) look_ = timeline_->look();
  panels_.reset();
  overview_.reset();
  timeline_.reset();
  loaded_ = std::move(loaded);
  const RowModel& model = loaded_->rows;
  timeline_.emplace(loaded_->run, model);
  timeline_->SetLook(look_);
  overview_.emplace(model);
  panels_ = std::make_unique<PanelArea>(*loaded_);
  report_.reset();
  ++opening_;
  Judge();
  if (!from_ns && !to_ns) return;
  timeline_->Show(from_ns ? model.origin + *from_ns : model.start,
                  to_ns ? model.origin + *to_ns : model.end);
}

std::shared_ptr<const LoadedRun> ViewerUi::Replace(std::unique_ptr<const LoadedRun> loaded) {
  Timeline timeline(loaded->run, loaded->rows);
  timeline.ContinueFrom(*timeline_);
  timeline_.emplace(std::move(timeline));
  overview_.emplace(loaded->rows);
  const std::unique_ptr<const PanelArea> before = std::move(panels_);
  std::shared_ptr<const LoadedRun> shown = std::exchange(loaded_, std::move(loaded));
  panels_ = std::make_unique<PanelArea>(*loaded_);
  panels_->ContinueFrom(*before);
  Judge();
  return shown;
}

// Half a run has another verdict.
void ViewerUi::Judge() {
  if (IsWhole(loaded_->run)) judge_.Ask({loaded_, opening_});
}

void ViewerUi::SetOpening(std::string what) {
  what_ = std::move(what);
  problem_.clear();
}

void ViewerUi::DrawOpening() {
  if (!problem_.empty()) {
    if (DrawProblem(what_, problem_, timeline_.has_value())) problem_.clear();
  } else if (progress_ && timeline_) {
    DrawReadingNote(*progress_, what_);
  }
}

void ViewerUi::SetLook(const Look& look) {
  look_ = look;
  if (timeline_) timeline_->SetLook(look);
}

void ViewerUi::Frame(const std::vector<Key>& keys) {
  ApplyTheme(ThemeOf(timeline_ ? timeline_->look().theme : look_.theme));
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("traceview", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollWithMouse |
                   ImGuiWindowFlags_NoBringToFrontOnFocus);
  if (!timeline_) {
    if (problem_.empty()) DrawProgress(progress_.value_or(LoadProgress{}), what_);
    ImGui::End();
    DrawOpening();
    return;
  }
  controls_.Clear();
  if (auto newest = judge_.answer(); newest && newest->opening == opening_) report_ = newest;
  for (const Key key : keys) {
    if (ImGui::GetIO().WantTextInput) break;  // they are text
    if (const auto command = CommandFor(key)) timeline_->Do(*command);
  }
  DrawTitleBar(*loaded_);
  DrawLegend(painted_, timeline_->look());
  const float label_px = std::floor(kLabelEms * ImGui::GetFontSize());
  DrawOverview(*overview_, *timeline_, label_px, panels_->find().marks(), controls_);
  const float panels_px = panels_->Height(ImGui::GetIO().DisplaySize.y);
  const float room_px = ImGui::GetContentRegionAvail().y - panels_px;
  DrawTimeline(std::max(room_px, 4 * Timeline::kRulerPx));
  panels_->Draw(*timeline_, report(), controls_);
  ImGui::End();
  if (timeline_->help_shown()) DrawHelp();
  DrawOpening();
}

void ViewerUi::DrawTimeline(float height_px) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width_px = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  const float font_px = ImGui::GetFontSize();
  timeline_->Resize(width_px, height_px, std::floor(kLabelEms * font_px), std::floor(font_px) + 5);
  ImGui::InvisibleButton("timeline", {width_px, height_px},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  ImGui::SetItemAllowOverlap();
  controls_.NoteItem("timeline");
  FeedMouse(origin.x, origin.y);
  ImGuiCanvas canvas(*ImGui::GetWindowDrawList(), origin);
  painted_ = PaintTimeline(*timeline_, canvas);
  row_controls_.Draw(*timeline_, origin.x, origin.y);
  const bool dragging = ImGui::IsMouseDown(ImGuiMouseButton_Left);
  if (timeline_->hover() && !dragging) DrawTooltip(*timeline_, *timeline_->hover());
}

void ViewerUi::FeedMouse(float origin_x, float origin_y) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  if (!hovered && !active) {
    timeline_->PointerLeft();
    return;
  }
  timeline_->MovePointer(io.MousePos.x - origin_x, io.MousePos.y - origin_y);
  constexpr std::pair<ImGuiMouseButton, PointerButton> kButtons[] = {
      {ImGuiMouseButton_Left, PointerButton::kLeft},
      {ImGuiMouseButton_Right, PointerButton::kRight}};
  for (const auto& [imgui, button] : kButtons) {
    if (ImGui::IsMouseClicked(imgui)) {
      timeline_->Press(button, ImGui::IsMouseDoubleClicked(imgui));
    }
    if (ImGui::IsMouseReleased(imgui)) timeline_->Release(button);
  }
  if (io.MouseWheel != 0) timeline_->Turn({io.MouseWheel, io.KeyCtrl, io.KeyShift});
  if (io.MouseWheelH != 0) timeline_->Turn({io.MouseWheelH, false, true});
}

}  // namespace traceinject
