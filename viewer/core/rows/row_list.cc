// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/rows/row_list.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "viewer/core/rows/contains_text.h"

namespace traceinject {
namespace {

template <typename Rows>
auto Find(Rows& rows, std::uint32_t row) {
  return std::find(rows.begin(), rows.end(), row);
}

}  // namespace

RowList::RowList(const RowModel& model)
    : model_(model), children_(model.rows.size()), depth_(model.rows.size()) {
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    const std::uint32_t parent = model.rows[row].parent;
    if (parent == kNone) {
      roots_.push_back(row);
    } else {
      children_[parent].push_back(row);
      depth_[row] = depth_[parent] + 1;
    }
  }
  Reset();
}

void RowList::Reset() {
  restored_ = unknown_ = {};
  as_restored_ = FirstChoices(model_);
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
  RestoredRows rows = RestoreRows(model_, saved);
  rows.choices.filter = choices_.filter;
  Choose(std::move(rows.choices));
  restored_ = saved;
  unknown_ = std::move(rows.unknown);
  as_restored_ = choices_;
}

SavedRows RowList::Saved() const {
  SavedRows saved = SaveRows(model_, choices_);
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
  if (!admitted_[row] || choices_.hidden.contains(row)) return;
  if (!IsPinned(row)) {
    scrolled_.push_back(row);
    shown_[row] = true;
  }
  // A filter looks into collapsed groups.
  if (IsCollapsed(row) && choices_.filter.empty()) {
    summary_[row] = SummaryOf(row);
    return;
  }
  for (const std::uint32_t child : children_[row]) Append(child);
}

void RowList::Update() {
  ++changes_;
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
  while (row != kNone && !shown_[row]) row = model_.rows[row].parent;
  return row;
}

std::string RowList::Context(std::uint32_t row) const {
  std::string context;
  for (std::uint32_t at = model_.rows[row].parent; at != kNone; at = model_.rows[at].parent) {
    context = context.empty() ? model_.rows[at].label : model_.rows[at].label + ", " + context;
  }
  return context;
}

bool RowList::IsEmptied(std::uint32_t row) const {
  return IsGroup(row) &&
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
