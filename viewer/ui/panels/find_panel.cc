// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/find_panel.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/metrics/idle/process_label.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/ui/widgets/imgui_canvas.h"

namespace traceinject {
namespace {

std::vector<RowGroup> ChoicesOf(const RowModel& model) {
  std::vector<RowGroup> groups = RowGroups(model);
  RowGroup all{"all rows", {}};
  for (const RowGroup& group : groups) {
    all.rows.insert(all.rows.end(), group.rows.begin(), group.rows.end());
  }
  groups.insert(groups.begin(), std::move(all));
  return groups;
}

std::string RangeText(TimeNs shortest, TimeNs longest) {
  if (longest == kOpen) return "from " + FormatTime(shortest);
  return FormatTime(shortest) + " to " + FormatTime(longest);
}

}  // namespace

FindPanel::FindPanel(const Run& run, const RowModel& model)
    : run_(run),
      model_(model),
      groups_(ChoicesOf(model)),
      rows_(groups_.front()),
      task_([&run, &model](const FindQuery& query, const std::atomic<bool>& cancelled) {
        return FindEvents(run, model, query, cancelled);
      }) {}

const std::vector<bool>& FindPanel::marks() const {
  static const std::vector<bool> kNoMarks;
  return result_ ? result_->marks : kNoMarks;
}

void FindPanel::ContinueFrom(const FindPanel& before) {
  text_ = before.text_;
  whole_ = before.whole_;
  shortest_ns_ = before.shortest_ns_;
  longest_ns_ = before.longest_ns_;
  for (const RowGroup& group : groups_) {
    if (group.title == before.rows_.title) rows_ = group;
  }
  Ask();
}

void FindPanel::FindName(const std::string& name, std::vector<std::uint32_t> rows) {
  text_ = name;
  whole_ = true;
  rows_ = {"rows of the statistics", std::move(rows)};
  shortest_ns_ = 0;
  longest_ns_ = kOpen;
  current_.reset();
  Ask();
}

// Nothing is looked for without a text: every event would be a hit.
void FindPanel::Ask() {
  if (text_.empty()) {
    result_.reset();
    return;
  }
  task_.Ask({text_, whole_, rows_.rows, shortest_ns_, longest_ns_});
}

void FindPanel::ShowHit(std::size_t hit, Timeline& timeline) {
  current_ = hit;
  scroll_to_current_ = true;
  timeline.Reveal(result_->hits[hit]);
}

void FindPanel::Step(int hits, Timeline& timeline) {
  if (!result_ || result_->hits.empty()) return;
  const auto count = static_cast<std::int64_t>(result_->hits.size());
  std::int64_t next = hits > 0 ? 0 : count - 1;
  if (current_) next = ((static_cast<std::int64_t>(*current_) + hits) % count + count) % count;
  ShowHit(static_cast<std::size_t>(next), timeline);
}

void FindPanel::ChooseRows(RowGroup rows) {
  rows_ = std::move(rows);
  current_.reset();
  Ask();
}

void FindPanel::DrawRowChoice(const Timeline& timeline, Controls& controls) {
  ImGui::SetNextItemWidth(14 * ImGui::GetFontSize());
  if (ImGui::BeginCombo("##rows", OneLine(rows_.title).c_str())) {
    for (const RowGroup& group : groups_) {
      if (ImGui::Selectable(group.title.c_str(), group.title == rows_.title)) ChooseRows(group);
      controls.NoteItem("find rows: " + group.title);
    }
    if (const std::uint32_t row = ChosenRow(timeline); row != kNone) {
      const RowGroup group = GroupOfRow(model_, row);
      const std::string title = "only " + OneLine(group.title) + "##row";
      if (ImGui::Selectable(title.c_str(), group.rows == rows_.rows)) ChooseRows(group);
      controls.NoteItem("find rows: selected");
    }
    ImGui::EndCombo();
  }
  controls.NoteItem("find: rows");
}

void FindPanel::DrawField(Timeline& timeline, Controls& controls) {
  if (std::exchange(focus_, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(24 * ImGui::GetFontSize());
  const std::string before = text_;
  const bool enter = ImGui::InputTextWithHint(
      "##text", "name or part of it", &text_,
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  controls.NoteItem("find: text");
  if (text_ != before) {
    whole_ = false;
    current_.reset();
    Ask();
  }
  if (enter) {
    Step(ImGui::GetIO().KeyShift ? -1 : 1, timeline);
    focus_ = true;  // Enter again goes on
  }
  ImGui::SameLine();
  DrawRowChoice(timeline, controls);
  ImGui::SameLine();
  if (ImGui::Button("previous")) Step(-1, timeline);
  controls.NoteItem("find: previous");
  ImGui::SameLine();
  if (ImGui::Button("next")) Step(1, timeline);
  controls.NoteItem("find: next");
}

void FindPanel::DrawSummary(Controls& controls) {
  ImGui::SameLine();
  if (task_.busy()) {
    PutColored(WarningColor(), "looking...");
    ImGui::SameLine();
  }
  if (!result_) {
    PutColored(DimColor(), "Enter: next hit, Shift+Enter: previous hit");
    return;
  }
  std::string text = fmt::format("{} hit{}", FormatCount(static_cast<std::int64_t>(result_->count)),
                                 result_->count == 1 ? "" : "s");
  if (result_->query.whole) text += " with exactly this name";
  if (result_->count > 0) text += ", total " + FormatTime(result_->total_ns);
  if (result_->count > result_->hits.size()) {
    text += fmt::format("; the first {} are listed",
                        FormatCount(static_cast<std::int64_t>(result_->hits.size())));
  }
  if (current_)
    text += fmt::format("; at {}", FormatCount(static_cast<std::int64_t>(*current_) + 1));
  PutColored(DimColor(), text);
  if (shortest_ns_ == 0 && longest_ns_ == kOpen) return;
  ImGui::SameLine();
  const std::string filter = "only " + RangeText(shortest_ns_, longest_ns_) + "  x";
  if (ImGui::SmallButton(filter.c_str())) {
    shortest_ns_ = 0;
    longest_ns_ = kOpen;
    current_.reset();
    Ask();
  }
  controls.NoteItem("find: any length");
}

void FindPanel::DrawHits(Timeline& timeline, Controls& controls) {
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersInnerV;
  if (!ImGui::BeginTable("hits", 4, flags)) return;
  const float em = ImGui::GetFontSize();
  ImGui::TableSetupColumn("start", ImGuiTableColumnFlags_WidthFixed, 9 * em);
  ImGui::TableSetupColumn("duration", ImGuiTableColumnFlags_WidthFixed, 6 * em);
  ImGui::TableSetupColumn("row", ImGuiTableColumnFlags_WidthFixed, 13 * em);
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableHeadersRow();
  if (std::exchange(scroll_to_current_, false) && current_) {
    // Rows have one height; the list is too long to draw up to the hit.
    const float row_px = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    const float top = static_cast<float>(*current_) * row_px;
    ImGui::SetScrollY(std::max(0.0F, top - ImGui::GetWindowHeight() / 2));
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(result_->hits.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const auto hit = static_cast<std::size_t>(i);
      const EventRef& ref = result_->hits[hit];
      const auto [start, end] = EventTimes(run_, model_, ref);
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      if (ImGui::Selectable("##hit", current_ == hit, ImGuiSelectableFlags_SpanAllColumns)) {
        ShowHit(hit, timeline);
        scroll_to_current_ = false;  // it is under the pointer
      }
      controls.NoteItem(fmt::format("find hit {}", i));
      ImGui::PopID();
      ImGui::SameLine(0, 0);
      Put(FormatMoment(model_, start));
      ImGui::TableNextColumn();
      Put(FormatTime(end - start));
      ImGui::TableNextColumn();
      const Row& row = model_.rows[ref.row];
      const ImVec4& color = ImGui::GetStyleColorVec4(ImGuiCol_Text);
      PutCut(color, run_.ranks.size() > 1
                        ? fmt::format("{}: {}", ProcessLabel(run_, run_.ranks[row.rank]),
                                      OneLine(row.label))
                        : OneLine(row.label));
      ImGui::TableNextColumn();
      PutCut(color, OneLine(EventLabel(run_, model_, ref), 200));
    }
  }
  ImGui::EndTable();
}

// A drag takes the lengths it covers; a click takes one bar.
void FindPanel::FilterByDrag(float left_px, float bin_px, std::size_t first_bin,
                             std::size_t last_bin) {
  const float x = ImGui::GetIO().MousePos.x - left_px;
  const auto bins = static_cast<float>(last_bin - first_bin);
  const std::size_t bin =
      first_bin + static_cast<std::size_t>(std::clamp(x / bin_px, 0.0F, bins - 1));
  if (ImGui::IsItemActivated()) drag_bin_ = bin;
  if (!ImGui::IsItemDeactivated() || !drag_bin_) return;
  shortest_ns_ = LengthBins::Start(std::min(bin, *drag_bin_));
  longest_ns_ = LengthBins::Start(std::max(bin, *drag_bin_) + 1);
  drag_bin_.reset();
  current_.reset();
  Ask();
}

void FindPanel::DrawHistogram(const Theme& theme, Controls& controls) {
  const auto& lengths = result_->lengths;
  const auto filled = [](std::size_t count) { return count > 0; };
  const auto first = std::find_if(lengths.begin(), lengths.end(), filled);
  if (first == lengths.end()) {
    PutColored(DimColor(), "no durations to show");
    return;
  }
  const auto last = std::find_if(lengths.rbegin(), lengths.rend(), filled).base();
  // A bar of one bin alone tells little: some room on both sides.
  const std::size_t from =
      static_cast<std::size_t>(std::max<std::ptrdiff_t>(first - lengths.begin() - 2, 0));
  const std::size_t to =
      std::min(static_cast<std::size_t>(last - lengths.begin()) + 2, LengthBins::kCount);
  PutColored(DimColor(), "durations, drag to filter");
  const Sizes sizes = ScreenSizes();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float width = std::max(room.x, sizes.least_histogram),
              height = std::max(room.y - line, 2 * line);
  ImGui::InvisibleButton("histogram", {width, height});
  controls.NoteItem("find: histogram");
  const float bin_px = width / static_cast<float>(to - from);
  FilterByDrag(at.x, bin_px, from, to);

  // The root of the count: single events are seen beside thousands.
  const auto most = std::sqrt(static_cast<float>(*std::max_element(first, last)));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t bin = from; bin < to; ++bin) {
    if (lengths[bin] == 0) continue;
    const TimeNs start = LengthBins::Start(bin);
    const bool kept = start >= shortest_ns_ && start < longest_ns_;
    const float left = at.x + static_cast<float>(bin - from) * bin_px;
    const float share = std::sqrt(static_cast<float>(lengths[bin])) / most;
    list.AddRectFilled({left, at.y + height - std::max(share * height, sizes.least_bar)},
                       {left + std::max(bin_px - sizes.line, 1.0F), at.y + height},
                       ToImGui(kept ? theme.bar : theme.bar_left_out));
  }
  if (drag_bin_) {
    const float began = at.x + static_cast<float>(*drag_bin_ - from) * bin_px;
    list.AddRectFilled({began, at.y}, {ImGui::GetIO().MousePos.x, at.y + height},
                       ToImGui(theme.measure_fill));
  }
  if (ImGui::IsItemHovered()) {
    const auto bin =
        from + static_cast<std::size_t>(std::clamp((ImGui::GetIO().MousePos.x - at.x) / bin_px,
                                                   0.0F, static_cast<float>(to - from) - 1));
    ImGui::SetTooltip(
        "%s",
        fmt::format("{}: {} events", RangeText(LengthBins::Start(bin), LengthBins::Start(bin + 1)),
                    FormatCount(static_cast<std::int64_t>(lengths[bin])))
            .c_str());
  }
  const std::string shortest = FormatTime(LengthBins::Start(from));
  const std::string longest = to == LengthBins::kCount ? "" : FormatTime(LengthBins::Start(to));
  PutColored(DimColor(), shortest);
  ImGui::SameLine(std::max(0.0F, width - ImGui::CalcTextSize(longest.c_str()).x));
  PutColored(DimColor(), longest);
}

void FindPanel::Draw(Timeline& timeline, Controls& controls) {
  if (auto answer = task_.answer(); !text_.empty() && answer != result_) {
    result_ = std::move(answer);
    if (current_ && *current_ >= result_->hits.size()) current_.reset();
  }
  DrawField(timeline, controls);
  DrawSummary(controls);
  if (!result_) return;
  const float histogram_px =
      std::min(26 * ImGui::GetFontSize(), ImGui::GetContentRegionAvail().x / 3);
  ImGui::BeginChild("list", {-histogram_px - ImGui::GetStyle().ItemSpacing.x, 0});
  DrawHits(timeline, controls);
  ImGui::EndChild();
  ImGui::SameLine();
  ImGui::BeginChild("lengths", {0, 0});
  DrawHistogram(ThemeOf(timeline.look().theme), controls);
  ImGui::EndChild();
}

}  // namespace traceinject
