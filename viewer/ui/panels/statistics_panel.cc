// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/statistics_panel.h"

#include <fmt/format.h>

#include <cmath>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

struct Column {
  const char* title;
  StatisticsColumn column;
};
constexpr Column kColumns[] = {
    {"name", StatisticsColumn::kName},   {"count", StatisticsColumn::kCount},
    {"total", StatisticsColumn::kTotal}, {"share", StatisticsColumn::kShare},
    {"mean", StatisticsColumn::kMean},   {"median", StatisticsColumn::kMedian},
    {"p99", StatisticsColumn::kP99},     {"min", StatisticsColumn::kMin},
    {"max", StatisticsColumn::kMax},
};
constexpr int kColumnCount = static_cast<int>(std::size(kColumns));
constexpr float kFigureEms = 4.8F;  // "1,234,567" or "999.9 ms": the rest is for the name

std::string CellText(const NameStatistics& of, StatisticsColumn column) {
  switch (column) {
    case StatisticsColumn::kName:
      return of.name.empty() ? "without name" : OneLine(of.name, 200);
    case StatisticsColumn::kCount:
      return FormatCount(static_cast<std::int64_t>(of.count));
    case StatisticsColumn::kTotal:
      return FormatTime(of.total_ns);
    case StatisticsColumn::kShare:
      return fmt::format("{:.1f} %", 100 * of.share);
    case StatisticsColumn::kMean:
      return FormatTime(std::llround(of.mean_ns));
    case StatisticsColumn::kMedian:
      return FormatTime(of.median_ns);
    case StatisticsColumn::kP99:
      return FormatTime(of.p99_ns);
    case StatisticsColumn::kMin:
      return FormatTime(of.min_ns);
    case StatisticsColumn::kMax:
      return FormatTime(of.max_ns);
  }
  return "";
}

void PutFigures(const NameStatistics& of) {
  for (int column = 1; column < kColumnCount; ++column) {
    ImGui::TableSetColumnIndex(column);
    const std::string text = CellText(of, kColumns[column].column);
    const float left = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    if (left > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + left);
    Put(text);
  }
}

}  // namespace

StatisticsPanel::StatisticsPanel(const Run& run, const RowModel& model)
    : model_(model),
      groups_(RowGroups(model)),
      task_([&run, &model](const StatisticsQuery& query, const std::atomic<bool>& cancelled) {
        return ComputeStatistics(run, model, query, cancelled);
      }) {}

void StatisticsPanel::ContinueFrom(const StatisticsPanel& before) {
  column_ = before.column_;
  descending_ = before.descending_;
  if (before.choice_ == 0) return;
  const std::string& title = before.groups_[static_cast<std::size_t>(before.choice_) - 1].title;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].title == title) choice_ = static_cast<int>(group) + 1;
  }
}

RowGroup StatisticsPanel::ChosenRows(const Timeline& timeline) const {
  if (choice_ > 0) return groups_[static_cast<std::size_t>(choice_) - 1];
  if (const std::uint32_t row = ChosenRow(timeline); row != kNone) {
    RowGroup group = GroupOfRow(model_, row);
    if (!group.rows.empty()) return group;
  }
  return groups_.empty() ? RowGroup{} : groups_.front();
}

void StatisticsPanel::DrawChoice(const Timeline& timeline, const RowGroup& rows, bool measured,
                                 Controls& controls) {
  ImGui::SetNextItemWidth(18 * ImGui::GetFontSize());
  const auto title = [&](int choice) {
    return choice == 0 ? std::string("row of the selection")
                       : "all " + groups_[static_cast<std::size_t>(choice) - 1].title;
  };
  if (ImGui::BeginCombo("##rows", title(choice_).c_str())) {
    for (int choice = 0; choice <= static_cast<int>(groups_.size()); ++choice) {
      if (ImGui::Selectable(title(choice).c_str(), choice == choice_)) choice_ = choice;
      controls.NoteItem("statistics rows: " + title(choice));
    }
    ImGui::EndCombo();
  }
  controls.NoteItem("statistics: rows");
  ImGui::SameLine();
  const TimeNs span =
      measured ? timeline.measure()->end - timeline.measure()->start : timeline.view().span_ns();
  PutColored(DimColor(), fmt::format("{}, {} {}: events starting in it", OneLine(rows.title),
                                     measured ? "measured" : "visible", FormatTime(span)));
  std::size_t hidden = 0;
  for (const std::uint32_t row : rows.rows) hidden += model_.rows[row].hidden;
  if (hidden > 0) {
    ImGui::SameLine();
    PutColored(WarningColor(), fmt::format("not counting {} events: too many at once",
                                           FormatCount(static_cast<std::int64_t>(hidden))));
  }
  if (task_.busy()) {
    ImGui::SameLine();
    PutColored(WarningColor(), "counting...");
  }
}

void StatisticsPanel::Sort() { SortStatistics(names_, column_, descending_); }

std::optional<StatisticsPanel::Clicked> StatisticsPanel::DrawTable(Controls& controls) {
  std::optional<Clicked> clicked;
  const ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY |
                                ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersInnerV;
  if (!ImGui::BeginTable("statistics", kColumnCount, flags)) return clicked;
  for (const Column& column : kColumns) {
    const bool name = column.column == StatisticsColumn::kName;
    ImGuiTableColumnFlags column_flags =
        name ? ImGuiTableColumnFlags_WidthStretch
             : ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_PreferSortDescending;
    if (column.column == StatisticsColumn::kTotal) {
      column_flags |= ImGuiTableColumnFlags_DefaultSort;
    }
    ImGui::TableSetupColumn(column.title, column_flags,
                            name ? 0 : kFigureEms * ImGui::GetFontSize());
  }
  ImGui::TableSetupScrollFreeze(0, 2);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int column = 0; column < kColumnCount; ++column) {
    ImGui::TableSetColumnIndex(column);
    ImGui::TableHeader(kColumns[column].title);
    controls.NoteItem(std::string("statistics by ") + kColumns[column].title);
  }
  ImGuiTableSortSpecs* const specs = ImGui::TableGetSortSpecs();
  if (specs != nullptr && specs->SpecsDirty && specs->SpecsCount > 0) {
    column_ = kColumns[specs->Specs[0].ColumnIndex].column;
    descending_ = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    specs->SpecsDirty = false;
    Sort();
  }
  ImGui::TableNextRow();
  ImGui::TableSetColumnIndex(0);
  PutColored(DimColor(), "all");
  PutFigures(shown_->all);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(names_.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const NameStatistics& of = names_[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableSetColumnIndex(0);
      ImGui::PushID(i);
      if (ImGui::Selectable("##name", false, ImGuiSelectableFlags_SpanAllColumns)) {
        clicked = Clicked{of.name, shown_->query.rows};
      }
      controls.NoteItem(fmt::format("statistics row {}", i));
      ImGui::PopID();
      const std::string name = CellText(of, StatisticsColumn::kName);
      const bool cut = ImGui::CalcTextSize(name.c_str()).x > ImGui::GetColumnWidth();
      if (cut && ImGui::IsItemHovered() &&
          ImGui::TableGetColumnFlags(0) & ImGuiTableColumnFlags_IsHovered) {
        ImGui::SetTooltip("%s", name.c_str());
      }
      ImGui::SameLine(0, 0);
      PutCut(ImGui::GetStyleColorVec4(ImGuiCol_Text), name);
      PutFigures(of);
    }
  }
  ImGui::EndTable();
  return clicked;
}

std::optional<StatisticsPanel::Clicked> StatisticsPanel::Draw(const Timeline& timeline,
                                                              Controls& controls) {
  const RowGroup rows = ChosenRows(timeline);
  const bool measured = timeline.measure() && timeline.measure()->end > timeline.measure()->start;
  task_.Ask(measured
                ? StatisticsQuery{rows.rows, timeline.measure()->start, timeline.measure()->end}
                : StatisticsQuery{rows.rows, timeline.view().start_ns(), timeline.view().end_ns()});
  if (auto answer = task_.answer(); answer != shown_) {
    shown_ = std::move(answer);
    names_ = shown_->names;
    Sort();
  }
  DrawChoice(timeline, rows, measured, controls);
  if (!shown_) return std::nullopt;
  return DrawTable(controls);
}

}  // namespace traceinject
