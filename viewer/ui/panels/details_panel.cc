// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/details_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/printable.h"
#include "analyzer/common/units.h"
#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/rows/step_text.h"

namespace traceinject {
namespace {

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

std::vector<Detail> DetailsOf(const Timeline& timeline, const proto::Report* report,
                              const HeldUp* held_up) {
  if (timeline.measure()) return MeasureDetails(timeline);
  if (!timeline.selection()) return {};
  const EventRef& event = *timeline.selection();
  std::vector<Detail> lines =
      EventDetails(timeline.run(), timeline.model(), event, timeline.selection_links());
  if (held_up != nullptr) {
    // After what it was, how long it took and when.
    constexpr std::ptrdiff_t kAfter = 3;
    std::vector<Detail> found = HeldUpDetails(timeline.run(), timeline.model(), *held_up);
    lines.insert(lines.begin() + kAfter, found.begin(), found.end());
  }
  if (report != nullptr) {
    const TimeNs start = EventTimes(timeline.run(), timeline.model(), event).first;
    const Row& row = timeline.model().rows[event.row];
    for (Detail& line : StepDetails(*report, timeline.run(), timeline.model(), row, start)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string AsText(const std::vector<Detail>& lines) {
  std::string text;
  for (const Detail& line : lines) text += line.first + ": " + Printable(line.second) + "\n";
  return text;
}

// Pairs in columns, filled from the top, as many columns as fit beside each other. Right click
// copies a value.
void PutPairs(const std::vector<Detail>& lines, std::size_t from) {
  const float column_px = 28 * ImGui::GetFontSize();
  const auto columns = std::max(1, static_cast<int>(ImGui::GetContentRegionAvail().x / column_px));
  const std::size_t count = lines.size() - from;
  const std::size_t rows =
      (count + static_cast<std::size_t>(columns) - 1) / static_cast<std::size_t>(columns);
  if (!ImGui::BeginTable("pairs", 2 * columns, ImGuiTableFlags_SizingStretchProp)) return;
  for (int column = 0; column < columns; ++column) {
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed);
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    ImGui::TableNextRow();
    for (std::size_t column = 0; column < static_cast<std::size_t>(columns); ++column) {
      const std::size_t line = from + column * rows + row;
      if (line >= lines.size()) break;
      ImGui::TableNextColumn();
      PutColored(DimColor(), lines[line].first);
      ImGui::TableNextColumn();
      PutWrapped(ImGui::GetStyleColorVec4(ImGuiCol_Text), OneLine(lines[line].second, 2000));
      if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) {
        ImGui::SetClipboardText(Printable(lines[line].second).c_str());
      }
    }
  }
  ImGui::EndTable();
}

}  // namespace

DetailsPanel::DetailsPanel(const Run& run, const RowModel& model)
    : held_up_([finder = std::make_shared<HeldUpFinder>(run, model)](
                   const EventRef& gap, const std::atomic<bool>&) -> std::optional<HeldUp> {
        return finder->Find(gap);
      }) {}

void DetailsPanel::FindHeldUp(Workspace& workspace) {
  const auto& selection = workspace.timeline().selection();
  answer_.reset();
  if (selection && IsIdleTime(workspace.timeline().model(), *selection)) {
    held_up_.Ask(EventRef(*selection));
    if (auto newest = held_up_.answer(); newest && newest->gap == *selection) answer_ = newest;
  }
  if (answer_) {
    workspace.SetHeldUpBy(answer_->rank, answer_->place());
  } else {
    workspace.SetHeldUpBy(0, kNone);
  }
}

void DetailsPanel::Draw(const Timeline& timeline, const proto::Report* report, Controls& controls) {
  const Subject subject{timeline.selection(), timeline.measure(), report, answer_};
  if (subject != shown_) {
    shown_ = subject;
    lines_ = DetailsOf(timeline, report, answer_.get());
  }
  if (lines_.empty()) {
    PutColored(DimColor(), "Click an event to see its details. Drag to measure.");
    return;
  }
  if (ImGui::SmallButton("copy")) ImGui::SetClipboardText(AsText(lines_).c_str());
  controls.NoteItem("details: copy");
  if (ImGui::IsItemHovered()) {
    ImGui::SetTooltip("copy everything; right-click a value to copy only that");
  }
  // What it is gets a line of its own: kernel names are long.
  ImGui::SameLine();
  PutColored(DimColor(), lines_.front().first);
  ImGui::SameLine();
  PutWrapped(ImGui::GetStyleColorVec4(ImGuiCol_Text), OneLine(lines_.front().second, 4000));
  PutPairs(lines_, 1);
}

}  // namespace traceinject
