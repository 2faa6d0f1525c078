// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/view_state.h"

#include <algorithm>
#include <array>
#include <map>

#include "analyzer/common/units.h"
#include "analyzer/http/url_text.h"
#include "viewer/core/session/sidecar.h"
#include "viewer/serve/link_text.h"

namespace traceinject {
namespace {

constexpr std::array kColorModes = {ColorMode::kClass, ColorMode::kName, ColorMode::kStream};

std::string ShownPanels(const Workspace& workspace) {
  std::string names;
  for (std::size_t i = 0; i < kPanels; ++i) {
    const auto panel = static_cast<Panel>(i);
    if (workspace.IsShown(panel))
      names += (names.empty() ? "" : ",") + std::string(PanelName(panel));
  }
  return names;
}

void ShowPanels(const std::string& names, Workspace& workspace) {
  for (std::size_t i = 0; i < kPanels; ++i) {
    const auto panel = static_cast<Panel>(i);
    const std::string name = "," + std::string(PanelName(panel)) + ",";
    workspace.SetShown(panel, ("," + names + ",").find(name) != std::string::npos);
  }
}

Look LookOf(const std::string& theme, const std::string& colors, Look look) {
  look.theme = ThemeCalled(theme).value_or(look.theme);
  const auto* const mode = std::ranges::find(kColorModes, colors, ColorModeName);
  if (mode != kColorModes.end()) look.colors = *mode;
  return look;
}

}  // namespace

std::string ViewState(const ViewerUi& ui) {
  std::string state;
  if (ui.workspace() == nullptr) return state;
  const Workspace& workspace = *ui.workspace();
  const Timeline& timeline = workspace.timeline();
  const TimeNs origin = timeline.model().origin;
  AddToLink("theme", ThemeOf(timeline.look().theme).name, state);
  AddToLink("colors", ColorModeName(timeline.look().colors), state);
  AddToLink("panels", ShownPanels(workspace), state);
  AddToLink("tab", TabTitle(ui.panels()->tab()), state);
  AddToLink("filter", PercentEncoded(timeline.row_list().choices().filter), state);
  if (const auto& measure = timeline.measure())
    AddToLink("measure",
              SecondsText(measure->start - origin) + ".." + SecondsText(measure->end - origin),
              state);
  const std::string kept = SidecarJson(workspace.Kept(), workspace.annotations().base_ns());
  AddToLink("kept", PercentEncoded(kept), state);
  return state;
}

void RestoreViewState(std::string_view state, bool keeps, ViewerUi& ui) {
  std::map<std::string, std::string> parts = LinkParts(state);
  if (parts.empty() || ui.workspace() == nullptr) return;
  Workspace& workspace = *ui.workspace();
  Timeline& timeline = workspace.timeline();
  ui.SetLook(LookOf(parts["theme"], parts["colors"], timeline.look()));
  ShowPanels(parts["panels"], workspace);
  ui.ShowTab(parts["tab"]);
  auto kept = ReadSidecarJson(parts["kept"], workspace.annotations().base_ns());
  if (keeps && kept.ok()) workspace.Restore(std::move(kept).value());
  timeline.ChangeRows([&parts](RowList& list) { list.SetFilter(parts["filter"]); });
  if (const auto times = TimesOfLink(parts["measure"])) {
    const TimeNs origin = timeline.model().origin;
    timeline.SetMeasure(Measure{origin + times->first, origin + times->second, kNone});
  }
}

}  // namespace traceinject
