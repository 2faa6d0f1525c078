// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "viewer/core/event_text.h"
#include "viewer/ui/imgui_theme.h"

namespace traceinject {
namespace {

void Put(const std::string& text) {
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

void PutColoured(const ImVec4& colour, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  Put(text);
  ImGui::PopStyleColor();
}

// Pairs in columns, filled from the top, as many columns as fit beside each other.
void PutPairs(const std::vector<Detail>& lines, std::size_t from) {
  const float column_px = 28 * ImGui::GetFontSize();
  const auto columns = std::max(1, static_cast<int>(ImGui::GetContentRegionAvail().x / column_px));
  const std::size_t count = lines.size() - from;
  const std::size_t rows =
      (count + static_cast<std::size_t>(columns) - 1) / static_cast<std::size_t>(columns);
  if (!ImGui::BeginTable("pairs", 2 * columns, ImGuiTableFlags_SizingFixedFit)) return;
  for (std::size_t row = 0; row < rows; ++row) {
    ImGui::TableNextRow();
    for (std::size_t column = 0; column < static_cast<std::size_t>(columns); ++column) {
      const std::size_t line = from + column * rows + row;
      if (line >= lines.size()) break;
      ImGui::TableNextColumn();
      PutColoured(DimColour(), lines[line].first);
      ImGui::TableNextColumn();
      Put(lines[line].second + "   ");
    }
  }
  ImGui::EndTable();
}

std::vector<Detail> MeasureDetails(const Timeline& timeline) {
  const Measure& measure = *timeline.measure();
  const RowModel& model = timeline.model();
  std::vector<Detail> lines = {
      {"measured", FormatTime(measure.end - measure.start)},
      {"from", FormatMoment(model, measure.start)},
      {"to", FormatMoment(model, measure.end)},
  };
  if (measure.row == kNone || model.rows[measure.row].lanes.empty()) return lines;
  const Row& row = model.rows[measure.row];
  lines.emplace_back("row", row.label);
  if (row.kind != RowKind::kDevice) {  // its pieces are not operations
    const auto count = static_cast<std::int64_t>(row.Count(measure.start, measure.end));
    lines.emplace_back("events starting", FormatCount(count));
  }
  lines.emplace_back("busy",
                     fmt::format("{:.2f} %", 100 * row.BusyShare(measure.start, measure.end)));
  return lines;
}

}  // namespace

void DrawTitleBar(const LoadedRun& loaded) {
  const Run& run = loaded.run;
  const Rank& first = run.ranks.front();
  std::string title = ShortenMiddle(first.path, 80);
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
      for (const std::string& note : run.notes) Put(note);
      ImGui::EndTooltip();
    }
  }
  const char* const hint = "? or F1: help";
  ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(hint).x);
  PutColoured(DimColour(), hint);
}

void DrawDetails(const Timeline& timeline) {
  std::vector<Detail> lines;
  if (timeline.measure()) {
    lines = MeasureDetails(timeline);
  } else if (timeline.selection()) {
    lines = EventDetails(timeline.run(), timeline.model(), *timeline.selection());
  }
  if (lines.empty()) {
    PutColoured(DimColour(), "Click an event to see what is known of it. Drag to measure.");
    return;
  }
  // What it is gets a line of its own: kernel names are long.
  PutColoured(DimColour(), lines.front().first);
  ImGui::SameLine();
  ImGui::PushTextWrapPos(0);
  Put(lines.front().second);
  ImGui::PopTextWrapPos();
  PutPairs(lines, 1);
}

void DrawTooltip(const Timeline& timeline, const EventRef& ref) {
  const auto [start, end] = EventTimes(timeline.run(), timeline.model(), ref);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(40 * ImGui::GetFontSize());
  const std::string_view label = EventLabel(timeline.run(), timeline.model(), ref);
  Put(label.empty() ? "without name" : ShortenMiddle(label, 300));
  ImGui::PopTextWrapPos();
  PutColoured(DimColour(),
              FormatTime(end - start) + " from " + FormatMoment(timeline.model(), start));
  ImGui::EndTooltip();
}

void DrawHelp() {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(20, 16));
  ImGui::Begin("help", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoInputs);
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
    const auto line = [](std::string_view left, std::string_view right) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      Put(std::string(left) + "    ");
      ImGui::TableNextColumn();
      PutColoured(DimColour(), std::string(right));
    };
    for (const Command& command : Commands()) line(KeysOf(command), command.help);
    line("", "");
    for (const MouseHelp& mouse : MouseGestures()) line(mouse.gesture, mouse.help);
    ImGui::EndTable();
  }
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

void DrawProgress(const LoadProgress& progress, const std::string& what) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  ImGui::SetCursorPos({room.x / 4, room.y / 2});
  Put("Reading " + what);
  ImGui::SetCursorPosX(room.x / 4);
  ImGui::ProgressBar(static_cast<float>(progress.share), {room.x / 2, 0});
  ImGui::SetCursorPosX(room.x / 4);
  PutColoured(DimColour(), FormatCount(static_cast<std::int64_t>(progress.rows)) + " events");
}

}  // namespace traceinject
