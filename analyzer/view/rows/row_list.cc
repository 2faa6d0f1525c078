// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/row_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/view/rows/contains_text.h"

namespace traceinject {
namespace {

template <typename Rows>
auto Find(Rows& rows, std::uint32_t row) {
  return std::find(rows.begin(), rows.end(), row);
}

}  // namespace

RowList::RowList(const RowModel& model)
    : model_(model),
      children_(model.rows.size()),
      depth_(model.rows.size()),
      line_of_(model.rows.size(), kNone),
      quiet_(model.rows.size()) {
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    const std::uint32_t parent = model.rows[row].parent;
    if (parent == kNone) {
      roots_.push_back(row);
    } else {
      children_[parent].push_back(row);
      depth_[row] = depth_[parent] + 1;
    }
  }
  for (std::uint32_t line = 0; line < model.rows.size(); ++line) {
    if (model.rows[line].kind != RowKind::kQuiet) continue;
    for (const std::uint32_t row : children_[model.rows[line].parent]) {
      if (model.rows[row].kind != RowKind::kStream && model.rows[row].thread == kNone) continue;
      quiet_lines_[line].push_back(row);
      line_of_[row] = line;
    }
  }
  Reset();
}

void RowList::Reset() {
  restored_ = unknown_ = {};
  first_ = as_restored_ = FirstChoices(model_, open_ranks_, most_open_);
  RowChoices choices = as_restored_;
  choices.order.resize(model_.rows.size());
  std::iota(choices.order.begin(), choices.order.end(), 0U);
  Choose(std::move(choices));
}

void RowList::Choose(RowChoices choices) {
  const auto unknown = [this](std::uint32_t row) { return row >= model_.rows.size(); };
  std::erase_if(choices.collapsed, unknown);
  std::erase_if(choices.hidden, unknown);
  std::erase_if(choices.pinned, unknown);
  std::erase_if(choices.order, unknown);
  std::vector<bool> ordered(model_.rows.size());
  for (const std::uint32_t row : choices.order) ordered[row] = true;
  for (std::uint32_t row = 0; row < model_.rows.size(); ++row) {
    if (!ordered[row]) choices.order.push_back(row);
  }
  choices_ = std::move(choices);
  SortChildren();
  Update();
}

void RowList::Restore(const SavedRows& saved) {
  RestoredRows rows = RestoreRows(model_, saved, first_);
  rows.choices.filter = choices_.filter;
  Choose(std::move(rows.choices));
  restored_ = saved;
  unknown_ = std::move(rows.unknown);
  as_restored_ = choices_;
}

SavedRows RowList::Saved() const {
  SavedRows saved = SaveRows(model_, choices_, first_);
  // Of a quick look many rows are not there yet: what was not changed is as it was brought back.
  const auto keep = [this](std::vector<std::string> SavedRows::*rows, bool changed,
                           std::vector<std::string>& now) {
    if (!changed) {
      now = restored_.*rows;
    } else {
      now.insert(now.end(), (unknown_.*rows).begin(), (unknown_.*rows).end());
    }
  };
  keep(&SavedRows::collapsed, choices_.collapsed != as_restored_.collapsed, saved.collapsed);
  keep(&SavedRows::opened, choices_.collapsed != as_restored_.collapsed, saved.opened);
  keep(&SavedRows::hidden, choices_.hidden != as_restored_.hidden, saved.hidden);
  keep(&SavedRows::pinned, choices_.pinned != as_restored_.pinned, saved.pinned);
  keep(&SavedRows::order, choices_.order != as_restored_.order, saved.order);
  return saved;
}

void RowList::OpenRanks(const std::set<std::uint32_t>& ranks, std::size_t most_open) {
  if (ranks == open_ranks_ && most_open == most_open_) return;
  open_ranks_ = ranks;
  most_open_ = most_open;
  const RowChoices before = std::exchange(first_, FirstChoices(model_, ranks, most_open));
  if (choices_.collapsed == as_restored_.collapsed) {
    choices_.collapsed = RestoreRows(model_, restored_, first_).choices.collapsed;
    as_restored_.collapsed = choices_.collapsed;
  } else {
    for (const std::uint32_t row : before.collapsed) {
      if (!first_.collapsed.contains(row)) choices_.collapsed.erase(row);
    }
  }
  Update();
}

std::vector<bool> RowList::FindQuiet() const {
  std::vector<bool> quiet = quiet_;
  if (sight_start_ == sight_end_) return quiet;
  for (const auto& [line, rows] : quiet_lines_) {
    const std::uint32_t group = model_.rows[line].parent;
    const bool open = shown_[group] && !IsCollapsed(group) && choices_.filter.empty();
    if (open) FindQuietOf(line, quiet);
  }
  return quiet;
}

// Of a thread all rows or none: those beside the one with events tell what it did not do.
void RowList::FindQuietOf(std::uint32_t line, std::vector<bool>& quiet) const {
  const std::vector<std::uint32_t>& rows = quiet_lines_.at(line);
  const auto is_same = [this](std::uint32_t a, std::uint32_t b) {
    return model_.rows[a].stream == model_.rows[b].stream &&
           model_.rows[a].thread == model_.rows[b].thread;
  };
  const auto is_needed = [this](std::uint32_t row) {
    return kept_.contains(row) || model_.rows[row].HasEvents(sight_start_, sight_end_);
  };
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last =
        std::find_if(first, rows.end(), [&](std::uint32_t row) { return !is_same(*first, row); });
    const bool none = std::none_of(first, last, is_needed);
    for (; first != last; ++first) quiet[*first] = none;
  }
}

bool RowList::SetSight(TimeNs start_ns, TimeNs end_ns, const std::set<std::uint32_t>& kept) {
  sight_start_ = start_ns;
  sight_end_ = end_ns;
  kept_ = kept;
  std::vector<bool> quiet = FindQuiet();
  if (quiet == quiet_) return false;
  quiet_ = std::move(quiet);
  Arrange();
  return true;
}

std::vector<std::uint32_t> RowList::QuietRowsOf(std::uint32_t line) const {
  std::vector<std::uint32_t> quiet;
  if (!choices_.filter.empty()) return quiet;
  for (const std::uint32_t row : quiet_lines_.at(line)) {
    if (quiet_[row] && !choices_.hidden.contains(row) && !IsPinned(row)) quiet.push_back(row);
  }
  return quiet;
}

bool RowList::IsFoldedAway(std::uint32_t row) const {
  const std::uint32_t line = line_of_[row];
  return line != kNone && quiet_[row] && shown_[line] && IsCollapsed(line) && !IsPinned(row);
}

void RowList::SortChildren() {
  std::vector<std::size_t> place(model_.rows.size());
  for (std::size_t i = 0; i < choices_.order.size(); ++i) place[choices_.order[i]] = i;
  const auto before = [&place](std::uint32_t a, std::uint32_t b) { return place[a] < place[b]; };
  std::sort(roots_.begin(), roots_.end(), before);
  for (auto& children : children_) std::sort(children.begin(), children.end(), before);
}

void RowList::ToggleCollapsed(std::uint32_t group) {
  if (group >= model_.rows.size() || !IsGroup(group)) return;
  if (choices_.collapsed.erase(group) == 0) choices_.collapsed.insert(group);
  Update();
}

void RowList::TogglePinned(std::uint32_t row) {
  if (IsHeading(model_.rows[row].kind)) return;
  const auto at = Find(choices_.pinned, row);
  if (at == choices_.pinned.end()) {
    choices_.pinned.push_back(row);
  } else {
    choices_.pinned.erase(at);
  }
  Update();
}

void RowList::Hide(std::uint32_t row) {
  std::erase(choices_.pinned, row);
  choices_.hidden.insert(row);
  Update();
}

void RowList::SetFilter(std::string_view text) {
  choices_.filter = text;
  Update();
}

void RowList::SortRanks() {
  std::vector<std::uint32_t> by_number = roots_;
  std::sort(by_number.begin(), by_number.end());
  std::vector<std::uint32_t> sorted = by_number;
  const auto held_up = [this](std::uint32_t row) {
    return model_.waits.HeldUp(model_.rows[row].rank);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return held_up(a) > held_up(b); });
  if (roots_ == sorted) sorted = std::move(by_number);
  auto next = sorted.begin();
  for (std::uint32_t& row : choices_.order) {
    if (model_.rows[row].parent == kNone) row = *next++;
  }
  SortChildren();
  Update();
}

void RowList::FoldRanks() {
  const auto is_open = [this](std::uint32_t row) { return !IsCollapsed(row); };
  const bool any_open = std::any_of(roots_.begin(), roots_.end(), is_open);
  for (const std::uint32_t row : roots_) {
    if (any_open) choices_.collapsed.insert(row);
    if (!any_open) choices_.collapsed.erase(row);
  }
  Update();
}

void RowList::ToggleQuiet() {
  const auto is_folded = [this](const auto& line) { return IsCollapsed(line.first); };
  const bool any_folded = std::any_of(quiet_lines_.begin(), quiet_lines_.end(), is_folded);
  for (const auto& [line, rows] : quiet_lines_) {
    if (any_folded) choices_.collapsed.erase(line);
    if (!any_folded) choices_.collapsed.insert(line);
  }
  Update();
}

bool RowList::Move(std::uint32_t row, int by) {
  const bool up = by < 0;
  const auto neighbor = [up](auto& rows, std::uint32_t of, auto counts) {
    auto at = Find(rows, of);
    while (at != rows.end()) {
      if (up && at == rows.begin()) return rows.end();
      at += up ? -1 : 1;
      if (at == rows.end() || counts(*at)) return at;
    }
    return rows.end();
  };
  if (IsPinned(row)) {
    const auto other = neighbor(choices_.pinned, row, [](std::uint32_t) { return true; });
    if (other == choices_.pinned.end()) return false;
    std::iter_swap(Find(choices_.pinned, row), other);
    Update();
    return true;
  }
  const std::uint32_t parent = model_.rows[row].parent;
  std::vector<std::uint32_t>& siblings = parent == kNone ? roots_ : children_[parent];
  const auto other =
      neighbor(siblings, row, [this](std::uint32_t sibling) { return shown_[sibling]; });
  if (other == siblings.end()) return false;
  std::vector<std::uint32_t>& order = choices_.order;
  // Past those that are not shown, which keep their places.
  const std::uint32_t target = *other;
  order.erase(Find(order, row));
  order.insert(Find(order, target) + (up ? 0 : 1), row);
  SortChildren();
  Update();
  return true;
}

void RowList::Reveal(std::uint32_t row) {
  if (shown_[row]) return;
  for (std::uint32_t at = row; at != kNone; at = model_.rows[at].parent) {
    choices_.hidden.erase(at);
    if (at != row) choices_.collapsed.erase(at);
    if (IsFoldedAway(at)) choices_.collapsed.erase(line_of_[at]);
  }
  Update();
  if (!shown_[row]) SetFilter("");
}

bool RowList::IsPinned(std::uint32_t row) const {
  return Find(choices_.pinned, row) != choices_.pinned.end();
}

bool RowList::Matches(std::uint32_t row) const {
  return ContainsText(model_.rows[row].label, choices_.filter) ||
         ContainsText(model_.rows[row].note, choices_.filter);
}

bool RowList::Admit(std::uint32_t row, bool all) {
  const bool matches = all || Matches(row);
  bool any = matches;
  for (const std::uint32_t child : children_[row]) any |= Admit(child, matches);
  admitted_[row] = any;
  return any;
}

void RowList::Append(std::uint32_t row) {
  if (!admitted_[row] || choices_.hidden.contains(row) || IsFoldedAway(row)) return;
  if (!IsPinned(row)) {
    scrolled_.push_back(row);
    shown_[row] = true;
  }
  // A filter looks into collapsed groups.
  if (IsCollapsed(row) && choices_.filter.empty()) {
    summary_[row] = SummaryOf(row);
    return;
  }
  // The lines first: which of the others are shown depends on them.
  for (const std::uint32_t child : children_[row]) {
    if (model_.rows[child].kind == RowKind::kQuiet)
      shown_[child] = IsOfUse(child) && !choices_.hidden.contains(child);
  }
  for (const std::uint32_t child : children_[row]) {
    if (model_.rows[child].kind != RowKind::kQuiet || shown_[child]) Append(child);
  }
}

void RowList::Update() {
  ++changes_;
  Arrange();
  // Of groups that were opened it was not known yet.
  std::vector<bool> quiet = FindQuiet();
  if (quiet == quiet_) return;
  quiet_ = std::move(quiet);
  Arrange();
}

void RowList::Arrange() {
  admitted_.assign(model_.rows.size(), false);
  shown_.assign(model_.rows.size(), false);
  summary_.assign(model_.rows.size(), {});
  scrolled_.clear();
  for (const std::uint32_t row : choices_.pinned) shown_[row] = true;
  for (const std::uint32_t row : roots_) {
    Admit(row, choices_.filter.empty());
    Append(row);
  }
}

std::vector<std::uint32_t> RowList::SummaryOf(std::uint32_t row) const {
  if (!IsHeading(model_.rows[row].kind)) return {};
  std::vector<std::uint32_t> devices, others;
  const auto visit = [&](const auto& self, std::uint32_t from) -> void {
    for (const std::uint32_t child : children_[from]) {
      if (choices_.hidden.contains(child)) continue;
      const Row& inside = model_.rows[child];
      if (inside.kind == RowKind::kDevice) {
        devices.push_back(child);
      } else if (!inside.lanes.empty() && inside.kind != RowKind::kFrames) {
        others.push_back(child);
      }
      self(self, child);
    }
  };
  visit(visit, row);
  std::vector<std::uint32_t>& rows = devices.empty() ? others : devices;
  if (rows.size() > kMaxSummaryRows) rows.resize(kMaxSummaryRows);
  return rows;
}

std::uint32_t RowList::StandIn(std::uint32_t row) const {
  while (row != kNone && !shown_[row]) {
    row = IsFoldedAway(row) ? line_of_[row] : model_.rows[row].parent;
  }
  return row;
}

std::string RowList::Label(std::uint32_t row) const {
  if (model_.rows[row].kind != RowKind::kQuiet) return model_.rows[row].label;
  std::set<std::uint32_t> things;
  const bool streams = model_.rows[row].device != kNone;
  for (const std::uint32_t quiet : QuietRowsOf(row)) {
    things.insert(streams ? model_.rows[quiet].stream : model_.rows[quiet].thread);
  }
  return fmt::format("{} {}{} without events in sight", things.size(),
                     streams ? "stream" : "thread", things.size() == 1 ? "" : "s");
}

std::string RowList::Context(std::uint32_t row) const {
  std::string context;
  for (std::uint32_t at = model_.rows[row].parent; at != kNone; at = model_.rows[at].parent) {
    context = context.empty() ? model_.rows[at].label : model_.rows[at].label + ", " + context;
  }
  return context;
}

bool RowList::IsEmptied(std::uint32_t row) const {
  return !children_[row].empty() &&
         std::all_of(children_[row].begin(), children_[row].end(),
                     [this](std::uint32_t child) { return choices_.hidden.contains(child); });
}

std::string RowList::EmptyText() const {
  if (model_.rows.empty()) return "The recording has no events.";
  if (!scrolled_.empty() || !choices_.pinned.empty()) return "";
  if (!choices_.filter.empty()) {
    return "No row has \"" + choices_.filter + "\" in its name. Clear the filter to see all rows.";
  }
  return "All rows are hidden. Right-click the column on the left and choose \"Reset rows\" to "
         "show them.";
}

}  // namespace traceinject
