// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/code_panel.h"

#include <fmt/format.h>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

struct Grouping {
  CodeGrouping grouping;
  const char* title;
};
constexpr Grouping kGroupings[] = {{CodeGrouping::kLine, "by line"},
                                   {CodeGrouping::kFunction, "by function"},
                                   {CodeGrouping::kThread, "by thread"},
                                   // "GPT.h.*.attn", and "GPT.h.3.attn".
                                   {CodeGrouping::kModules, "by module"},
                                   {CodeGrouping::kEachModule, "by module of each layer"}};
constexpr float kFigureWidthEms = 6, kCauseEms = 9, kFilterEms = 16;
constexpr float kNameWeight = 1.2F, kSourceWeight = 1;  // of what the figures leave

// A row of a line or function can be shown on the timeline.
bool IsOfPlaces(CodeGrouping grouping) {
  return grouping == CodeGrouping::kLine || grouping == CodeGrouping::kFunction;
}

bool IsFigure(const TableColumn& column) { return !column.is_text(); }

void SetUpColumn(const TableColumn& column, bool first, bool initial) {
  const float em = ImGui::GetFontSize();
  const std::string title(column.title);
  ImGuiTableColumnFlags flags = initial ? ImGuiTableColumnFlags_DefaultSort : 0;
  if (first || column.name == "text") {
    flags |= ImGuiTableColumnFlags_WidthStretch;
    return ImGui::TableSetupColumn(title.c_str(), flags, first ? kNameWeight : kSourceWeight);
  }
  flags |= ImGuiTableColumnFlags_WidthFixed;
  if (IsFigure(column)) flags |= ImGuiTableColumnFlags_PreferSortDescending;
  ImGui::TableSetupColumn(title.c_str(), flags,
                          (IsFigure(column) ? kFigureWidthEms : kCauseEms) * em);
}

void PutCell(const std::string& text, bool figure, const ImVec4& color) {
  if (figure) {
    const float left = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    if (left > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + left);
  }
  PutCut(color, text);
}

}  // namespace

CodePanel::CodePanel(const Run& run)
    : run_(run), task_([&run](const bool&, const std::atomic<bool>& cancelled) {
        return FindCode(run, cancelled);
      }) {}

void CodePanel::ContinueFrom(const CodePanel& before) {
  grouping_ = before.grouping_;
  order_ = before.order_;
  filter_ = before.filter_;
}

void CodePanel::Choose(CodeGrouping grouping) {
  grouping_ = grouping;
  list_.emplace(tables_->by[static_cast<std::size_t>(grouping)], grouping);
  chosen_.reset();
  // Threads have no idle time.
  if (!FindColumn(list_->columns(), order_.column)) {
    order_.column = "host_ns";
    order_.reversed = false;
  }
  list_->Arrange(order_);
}

void CodePanel::DrawChoice(Controls& controls) {
  for (const Grouping& one : kGroupings) {
    if (IsOfModules(one.grouping) && !tables_->has_modules) continue;
    if (ImGui::RadioButton(one.title, grouping_ == one.grouping)) Choose(one.grouping);
    controls.NoteItem(std::string("code ") + one.title);
    ImGui::SameLine();
  }
  ImGui::SetNextItemWidth(kFilterEms * ImGui::GetFontSize());
  if (ImGui::InputTextWithHint("##code filter", "filter", filter_.data(), filter_.size())) {
    order_.filter = filter_.data();
    chosen_.reset();
    list_->Arrange(order_);
  }
  controls.NoteItem("code: filter");
  std::int64_t steps = 0;
  for (const proto::DeviceReport& device : tables_->by.front().devices())
    steps += device.code_steps();
  ImGui::SameLine();
  PutColored(
      DimColor(),
      fmt::format("{} of {}, over {}{}", FormatCount(static_cast<std::int64_t>(list_->size())),
                  Plural(static_cast<std::int64_t>(list_->all()), "row"), Plural(steps, "step"),
                  IsOfPlaces(grouping_) ? ". Click: show it. Ctrl+click or E: editor." : ""));
}

void CodePanel::TakeOrder() {
  ImGuiTableSortSpecs* const specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || !specs->SpecsDirty || specs->SpecsCount == 0) return;
  specs->SpecsDirty = false;
  const TableColumn& column =
      list_->columns()[static_cast<std::size_t>(specs->Specs[0].ColumnIndex)];
  const bool descending = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  order_.column = column.name;
  order_.reversed = descending != IsFigure(column);
  chosen_.reset();
  list_->Arrange(order_);
}

void CodePanel::DrawRow(std::size_t row, Workspace& workspace, Controls& controls) {
  const std::vector<TableColumn>& columns = list_->columns();
  const bool is_place = IsOfPlaces(grouping_);
  ImGui::TableNextRow();
  ImGui::TableSetColumnIndex(0);
  ImGui::PushID(static_cast<int>(row));
  const bool clicked =
      ImGui::Selectable("##row", chosen_ == row, ImGuiSelectableFlags_SpanAllColumns);
  controls.NoteItem(fmt::format("code row {}", row));
  ImGui::PopID();
  if (clicked && is_place) {
    chosen_ = row;
    ShowCode(*tables_, list_->Key(row), workspace.timeline());
    const auto& first = workspace.timeline().marked_places().first();
    if (first && ImGui::GetIO().KeyCtrl) workspace.OpenEditor(first->first, first->second);
  }
  const std::string name = OneLine(list_->Text(row, 0), 200);
  const bool cut = ImGui::CalcTextSize(name.c_str()).x > ImGui::GetContentRegionAvail().x;
  if (cut && ImGui::IsItemHovered() &&
      (ImGui::TableGetColumnFlags(0) & ImGuiTableColumnFlags_IsHovered) != 0)
    ImGui::SetTooltip("%s", name.c_str());
  ImGui::SameLine(0, 0);
  const bool own = !is_place || list_->IsOwn(row);
  const ImVec4 color = own ? ImGui::GetStyleColorVec4(ImGuiCol_Text) : DimColor();
  Put("");
  ImGui::SameLine(0, 0);
  PutCut(color, name);
  for (std::size_t column = 1; column < columns.size(); ++column) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(column))) continue;
    const std::string text = OneLine(list_->Text(row, column), 200);
    PutCell(text, IsFigure(columns[column]), text == FormatTime(0) ? DimColor() : color);
  }
}

void CodePanel::DrawTable(Workspace& workspace, Controls& controls) {
  const ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY |
                                ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersInnerV;
  const auto columns = static_cast<int>(list_->columns().size());
  // A table for each grouping: they have other columns.
  const std::string id = fmt::format("code {}", static_cast<int>(grouping_));
  if (!ImGui::BeginTable(id.c_str(), columns, flags)) return;
  for (int column = 0; column < columns; ++column) {
    const TableColumn& of = list_->columns()[static_cast<std::size_t>(column)];
    SetUpColumn(of, column == 0, of.name == order_.column);
  }
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int column = 0; column < columns; ++column) {
    const TableColumn& of = list_->columns()[static_cast<std::size_t>(column)];
    ImGui::TableSetColumnIndex(column);
    ImGui::TableHeader(std::string(of.title).c_str());
    controls.NoteItem(fmt::format("code column {}", of.title));
    if (!of.help.empty() && ImGui::IsItemHovered())
      ImGui::SetTooltip("%s", std::string(of.help).c_str());
  }
  TakeOrder();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(list_->size()));
  while (clipper.Step()) {
    for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
      DrawRow(static_cast<std::size_t>(row), workspace, controls);
    }
  }
  ImGui::EndTable();
}

void CodePanel::Draw(Workspace& workspace, bool whole, Controls& controls) {
  if (!whole) {
    PutColored(DimColor(), "The code is shown once the whole recording has been read.");
    return;
  }
  task_.Ask(true);
  if (auto answer = task_.answer(); answer != tables_) {
    tables_ = std::move(answer);
    const bool is_there = tables_->has_modules || !IsOfModules(grouping_);
    Choose(is_there ? grouping_ : CodeGrouping::kLine);
  }
  if (!list_) {
    PutColored(DimColor(), "Finding what the program did...");
  } else if (list_->all() == 0) {
    PutWrapped(DimColor(),
               "No stacks were recorded, or none in the steps that the verdict judges "
               "(TRACEINJECT_STACKS_HZ; analyze info says why).");
  } else {
    DrawChoice(controls);
    DrawTable(workspace, controls);
  }
}

}  // namespace traceinject
