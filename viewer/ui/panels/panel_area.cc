// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/panel_area.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "viewer/ui/panels/verdict_panel.h"

namespace traceinject {
namespace {

constexpr float kFirstShare = 0.34F;  // of the window, but no more than so many lines
constexpr float kFirstLines = 26;
constexpr float kMaxShare = 0.8F;

struct Tab {
  PanelTab tab;
  const char* title;
};
constexpr Tab kTabs[] = {{PanelTab::kVerdict, "Verdict"}, {PanelTab::kDetails, "Details"},
                         {PanelTab::kCode, "Code"},       {PanelTab::kStatistics, "Statistics"},
                         {PanelTab::kFind, "Find"},       {PanelTab::kMarks, "Marks"}};

}  // namespace

std::string_view TabTitle(PanelTab tab) { return std::ranges::find(kTabs, tab, &Tab::tab)->title; }

std::optional<PanelTab> TabTitled(std::string_view title) {
  const auto* const tab = std::ranges::find(kTabs, title, &Tab::title);
  return tab != std::end(kTabs) ? std::optional(tab->tab) : std::nullopt;
}

PanelArea::PanelArea(const LoadedRun& loaded)
    : whole_(IsWhole(loaded.run)),
      details_(loaded.run, loaded.rows),
      code_(loaded.run),
      statistics_(loaded.run, loaded.rows),
      find_(loaded.run, loaded.rows) {}

void PanelArea::ContinueFrom(const PanelArea& before) {
  tab_ = before.tab_;
  wanted_ = before.wanted_;
  height_px_ = before.height_px_;
  selection_ = before.selection_;
  measured_ = before.measured_;
  code_.ContinueFrom(before.code_);
  statistics_.ContinueFrom(before.statistics_);
  find_.ContinueFrom(before.find_);
  marks_ = before.marks_;
}

float PanelArea::Height(float window_px) const {
  const float tabs_px = ImGui::GetFrameHeightWithSpacing() + ScreenSizes().splitter;
  const float first_px =
      std::min(kFirstShare * window_px, kFirstLines * ImGui::GetTextLineHeightWithSpacing());
  return std::floor(
      std::clamp(height_px_.value_or(first_px), tabs_px, std::max(tabs_px, kMaxShare * window_px)));
}

bool PanelArea::busy() const {
  return details_.busy() || code_.busy() || statistics_.busy() || find_.busy();
}

void PanelArea::Wait() const {
  details_.Wait();
  code_.Wait();
  statistics_.Wait();
  find_.Wait();
}

void PanelArea::ShowFind() {
  Show(PanelTab::kFind);
  find_.TakeFocus();
}

void PanelArea::DrawSplitter(Controls& controls) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0F);
  const float window_px = ImGui::GetIO().DisplaySize.y;
  const Sizes sizes = ScreenSizes();
  ImGui::InvisibleButton("splitter", {width, sizes.splitter});
  controls.NoteItem("splitter");
  const bool active = ImGui::IsItemActive();
  if (active) height_px_ = Height(window_px) - ImGui::GetIO().MouseDelta.y;
  if (active || ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  const float middle = at.y + sizes.splitter / 2;
  ImGui::GetWindowDrawList()->AddRectFilled(
      {at.x, middle - sizes.line}, {at.x + width, middle + sizes.line},
      ImGui::GetColorU32(active ? ImGuiCol_SeparatorActive : ImGuiCol_Separator));
}

// What was just selected or measured is looked at: from the verdict over to it, but never away
// from the figures or hits that one is stepping through.
void PanelArea::FollowTimeline(const Timeline& timeline) {
  const bool selected = timeline.selection() && timeline.selection() != selection_;
  const bool measured = timeline.measure().has_value() && !measured_;
  const bool follow = (selected || measured) && tab_ == PanelTab::kVerdict;
  if (follow && !wanted_) wanted_ = PanelTab::kDetails;
  selection_ = timeline.selection();
  measured_ = timeline.measure().has_value();
}

void PanelArea::DrawPanel(PanelTab tab, Workspace& workspace, const proto::Report* report,
                          const Shading* shading, Controls& controls) {
  Timeline& timeline = workspace.timeline();
  switch (tab) {
    case PanelTab::kVerdict:
      if (report != nullptr) {
        DrawVerdict(*report, shading, workspace, controls);
        // The jump to a piece of evidence is no reason to leave the list of them.
        selection_ = timeline.selection();
        measured_ = timeline.measure().has_value();
      } else {
        PutColored(DimColor(),
                   whole_ ? "Finding what limits the run..."
                          : "The verdict is computed once the whole recording has been read.");
      }
      return;
    case PanelTab::kDetails:
      return details_.Draw(timeline, report, controls);
    case PanelTab::kCode:
      return code_.Draw(workspace, whole_, controls);
    case PanelTab::kStatistics:
      if (const auto clicked = statistics_.Draw(timeline, controls)) {
        find_.FindName(clicked->name, clicked->rows);
        Show(PanelTab::kFind);
      }
      return;
    case PanelTab::kFind:
      return find_.Draw(timeline, controls);
    case PanelTab::kMarks:
      return marks_.Draw(workspace, controls);
  }
}

void PanelArea::Draw(Workspace& workspace, const proto::Report* report, const Shading* shading,
                     Controls& controls) {
  FollowTimeline(workspace.timeline());
  details_.FindHeldUp(workspace);
  DrawSplitter(controls);
  if (!ImGui::BeginTabBar("panels")) return;
  const std::optional<PanelTab> wanted = std::exchange(wanted_, std::nullopt);
  for (const Tab& tab : kTabs) {
    const bool select = wanted == tab.tab;
    const bool open = ImGui::BeginTabItem(
        tab.title, nullptr, select ? ImGuiTabItemFlags_SetSelected : ImGuiTabItemFlags_None);
    controls.NoteItem(std::string("tab: ") + tab.title);
    if (!open) continue;
    tab_ = tab.tab;
    ImGui::BeginChild(tab.title, {0, 0}, false, ImGuiWindowFlags_NoSavedSettings);
    DrawPanel(tab.tab, workspace, report, shading, controls);
    ImGui::EndChild();
    ImGui::EndTabItem();
  }
  ImGui::EndTabBar();
}

}  // namespace traceinject
