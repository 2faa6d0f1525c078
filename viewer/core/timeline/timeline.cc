// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/rows/same_event.h"

namespace traceinject {
namespace {

constexpr std::size_t kHistory = 64;

// Those that were open at first on another timeline of the same recording.
std::set<std::uint32_t> SameRanks(const Timeline& before, const Timeline& now) {
  std::set<std::uint32_t> ranks;
  const RowModel& model = before.model();
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    if (model.rows[row].kind != RowKind::kRank ||
        !before.row_list().open_ranks().contains(model.rows[row].rank))
      continue;
    const std::uint32_t same = SameRow(before.run(), model, row, now.run(), now.model());
    if (same != kNone) ranks.insert(now.model().rows[same].rank);
  }
  return ranks;
}

// Up to where a whole recording reaches now.
bool ShowsTheEnd(const Run& run, const RowModel& model, const TimelineView& view) {
  const bool is_whole =
      std::ranges::all_of(run.ranks, [](const Rank& rank) { return rank.read_until == kOpen; });
  return is_whole && view.end_ns() >= model.end;
}

}  // namespace

Timeline::Timeline(const Run& run, const RowModel& model, const Links* links)
    : run_(run),
      model_(model),
      links_(links),
      view_(model.start, model.end),
      row_list_(model),
      layout_(model, row_list_, sizes_) {
  FollowSight();
}

void Timeline::Resize(float width_px, float height_px, const Sizes& sizes) {
  width_px_ = width_px;
  height_px_ = height_px;
  if (sizes.font != sizes_.font) {
    sizes_ = sizes;
    Relayout();
  }
  view_.SetWidth(Plot().width());
  ScrollTo(scroll_px_);
}

void Timeline::Relayout() { layout_ = RowLayout(model_, row_list_, sizes_); }

void Timeline::ChangeRows(const std::function<void(RowList&)>& change) {
  change(row_list_);
  SetSight();
  Relayout();
  ScrollTo(scroll_px_);
  SetHover(EventAt(pointer_x_, pointer_y_));
}

bool Timeline::SetSight() {
  std::set<std::uint32_t> kept;
  if (selection_) kept.insert(selection_->row);
  if (measure_ && measure_->row != kNone) kept.insert(measure_->row);
  return row_list_.SetSight(view_.start_ns(), view_.end_ns(), kept);
}

void Timeline::FollowSight() {
  const bool at_pointer = InPlot(pointer_x_, pointer_y_) && RowAt(pointer_y_) != kNone;
  const std::uint32_t row = RowAt(at_pointer ? pointer_y_ : ScrolledTop());
  const float before = row == kNone ? 0 : RowTop(row);
  if (!SetSight()) return;
  Relayout();
  ScrollTo(scroll_px_ + (row == kNone ? 0 : RowTop(row) - before));
}

void Timeline::ChangeRow(CommandId command, std::uint32_t row) {
  ChangeRows([&](RowList& list) {
    if (command == CommandId::kCollapse)
      list.ToggleCollapsed(list.IsGroup(row) ? row : model_.rows[row].parent);
    if (command == CommandId::kPinRow) list.TogglePinned(row);
    if (command == CommandId::kHideRow) list.Hide(row);
    if (command == CommandId::kMoveRowUp) list.Move(row, -1);
    if (command == CommandId::kMoveRowDown) list.Move(row, 1);
  });
}

float Timeline::RowTop(std::size_t row) const {
  return (layout_.IsPinned(row) ? sizes_.ruler : RowsTop()) + layout_.top_px(row);
}

float Timeline::LaneTop(std::size_t row, std::size_t lane) const {
  return RowTop(row) + layout_.lane_top_px(row, lane) - layout_.top_px(row);
}

std::vector<Box> Timeline::BoxesOf(const RowOwner& owner) const {
  const Box plot = Plot();
  if (owner.rank == kNone) return {plot};
  std::vector<Box> boxes;
  const auto add = [&](std::span<const std::uint32_t> rows, float top, float bottom) {
    for (const std::uint32_t row : rows) {
      if (!owner.Has(model_.rows[row])) continue;
      const float row_top = RowTop(row);
      const float row_bottom = row_top + layout_.bottom_px(row) - layout_.top_px(row);
      const Box box{plot.left, std::max(row_top, top), plot.right, std::min(row_bottom, bottom)};
      if (box.bottom <= box.top) continue;
      if (!boxes.empty() && boxes.back().bottom == box.top) {
        boxes.back().bottom = box.bottom;
      } else {
        boxes.push_back(box);
      }
    }
  };
  const float pinned_bottom = std::min(ScrolledTop(), plot.bottom);
  add(layout_.PinnedRows(), plot.top, pinned_bottom);
  add(ScrolledRows(), pinned_bottom, plot.bottom);
  return boxes;
}

std::span<const std::uint32_t> Timeline::ScrolledRows() const {
  return layout_.RowsBetween(scroll_px_ + layout_.pinned_px(), scroll_px_ + Plot().height());
}

RowOwner Timeline::MeasureOwner() const {
  return measure_ && measure_->row != kNone ? OwnerOf(model_.rows[measure_->row]) : RowOwner{};
}

float Timeline::LayoutY(float y) const {
  return y - (y < ScrolledTop() ? sizes_.ruler : RowsTop());
}

Box Timeline::Triangle(std::uint32_t row) const {
  const float depth = static_cast<float>(row_list_.depth(row)), top = RowTop(row);
  const float left = sizes_.text_pad + depth * sizes_.indent;
  return {left, top, left + sizes_.indent, layout_.bottom_px(row) - layout_.top_px(row) + top};
}

std::uint32_t Timeline::PointerRow() const {
  return pointer_x_ < 0 || pointer_x_ >= width_px_ ? kNone : RowAt(pointer_y_);
}

void Timeline::ContinueFrom(const Timeline& before) {
  Resize(before.width_px_, before.height_px_, before.sizes_);
  pointer_x_ = before.pointer_x_;
  pointer_y_ = before.pointer_y_;
  look_ = before.look_;
  row_list_.OpenRanks(SameRanks(before, *this), before.row_list_.most_open());
  row_list_.SetFilter(before.row_list_.choices().filter);
  row_list_.Restore(before.row_list_.Saved());
  Relayout();
  // Ranks that joined since may have moved the time that 0 stands for.
  const TimeNs moved = before.run_.base_ns - run_.base_ns;
  if (before.selection_) {
    Select(SameEvent(before.run_, before.model_, *before.selection_, run_, model_));
  }
  if (before.measure_) {
    const std::uint32_t row = before.measure_->row;
    measure_ =
        Measure{before.measure_->start + moved, before.measure_->end + moved,
                row == kNone ? kNone : SameRow(before.run_, before.model_, row, run_, model_)};
  }
  // A button that is held down goes on with what it does.
  drag_ = before.drag_;
  drag_button_ = before.drag_button_;
  press_x_ = before.press_x_;
  press_y_ = before.press_y_;
  press_time_ = before.press_time_ + moved;
  if (before.press_row_ != kNone) {
    press_row_ = SameRow(before.run_, before.model_, before.press_row_, run_, model_);
  }
  history_.clear();
  for (const Place& place : before.history_) {
    Place& kept =
        history_.emplace_back(Place{TimelineView(model_.start, model_.end), place.scroll_px});
    const bool was_all =
        place.view.start_ns() <= before.model_.start && place.view.end_ns() >= before.model_.end;
    if (!was_all) kept.view.Show(place.view.start_ns() + moved, place.view.end_ns() + moved);
  }
  stepping_ = before.stepping_;
  const TimelineView& view = before.view_;
  const bool all = view.start_ns() <= before.model_.start && view.end_ns() >= before.model_.end;
  // Who looks at the end of what grows goes on to; of a first look at a part it is not the end.
  const TimeNs grown = ShowsTheEnd(before.run_, before.model_, view)
                           ? std::max(model_.end - moved - before.model_.end, TimeNs{0})
                           : 0;
  if (!all) view_.Show(view.start_ns() + moved + grown, view.end_ns() + moved + grown);
  if (all) view_.ShowAll();
  FollowSight();
  // The row that stays where it was on the screen: rows above it may be new.
  std::uint32_t row = before.RowAt(sizes_.ruler);
  if (selection_ && before.layout_.top_px(before.selection_->row) >= before.scroll_px_ &&
      before.layout_.bottom_px(before.selection_->row) <= before.scroll_px_ + Plot().height()) {
    row = before.selection_->row;
  }
  const std::uint32_t same =
      row == kNone ? kNone : SameRow(before.run_, before.model_, row, run_, model_);
  if (same == kNone) return ScrollTo(before.scroll_px_);
  ScrollTo(layout_.top_px(same) + before.scroll_px_ - before.layout_.top_px(row));
}

void Timeline::Show(TimeNs start_ns, TimeNs end_ns) {
  Remember();
  view_.Show(start_ns, end_ns);
  FollowSight();
}

void Timeline::Fit(TimeNs start_ns, TimeNs end_ns) {
  Remember();
  view_.Fit(start_ns, end_ns);
  FollowSight();
}

void Timeline::StepTo(TimeNs start_ns, TimeNs end_ns) {
  BeginStep();
  view_.Show(start_ns, end_ns);
  FollowSight();
}

void Timeline::ScrollTo(float scroll_px) {
  const float most = std::max(layout_.height_px() - Plot().height(), 0.0F);
  scroll_px_ = std::clamp(scroll_px, 0.0F, most);
}

bool Timeline::Do(CommandId command) {
  // Keys zoom at the pointer; with the pointer elsewhere, in the middle.
  const Box plot = Plot();
  const float anchor = InPlot(pointer_x_, pointer_y_) ? pointer_x_ - plot.left : plot.width() / 2;
  switch (command) {
    case CommandId::kZoomIn:
      BeginStep();
      view_.ZoomAt(anchor, 1 / kZoomStep);
      FollowSight();
      return true;
    case CommandId::kZoomOut:
      BeginStep();
      view_.ZoomAt(anchor, kZoomStep);
      FollowSight();
      return true;
    case CommandId::kPanLeft:
      BeginStep();
      view_.Pan(-kPanShare * plot.width());
      FollowSight();
      return true;
    case CommandId::kPanRight:
      BeginStep();
      view_.Pan(kPanShare * plot.width());
      FollowSight();
      return true;
    case CommandId::kScrollUp:
      ScrollTo(scroll_px_ - kScrollLanes * sizes_.lane);
      return true;
    case CommandId::kScrollDown:
      ScrollTo(scroll_px_ + kScrollLanes * sizes_.lane);
      return true;
    case CommandId::kFitSelection:
      FitSelection();
      return true;
    case CommandId::kShowAll:
      Remember();
      view_.ShowAll();
      FollowSight();
      return true;
    case CommandId::kPreviousView:
      Back();
      return true;
    case CommandId::kPreviousEvent:
      Step(-1);
      return true;
    case CommandId::kNextEvent:
      Step(1);
      return true;
    case CommandId::kFollowLinkBack:
      FollowLinkBack();
      return true;
    case CommandId::kFollowLink:
      FollowLink();
      return true;
    case CommandId::kMeasureSelection:
      MeasureSelection();
      return true;
    case CommandId::kClear:
      Clear();
      return true;
    case CommandId::kCollapse:
    case CommandId::kPinRow:
    case CommandId::kHideRow:
    case CommandId::kMoveRowUp:
    case CommandId::kMoveRowDown:
      if (const std::uint32_t row = PointerRow(); row != kNone) ChangeRow(command, row);
      return true;
    case CommandId::kSortRanks:
      ChangeRows([](RowList& list) { list.SortRanks(); });
      return true;
    case CommandId::kFoldRanks:
      ChangeRows([](RowList& list) { list.FoldRanks(); });
      return true;
    case CommandId::kQuietRows:
      ChangeRows([](RowList& list) { list.ToggleQuiet(); });
      return true;
    case CommandId::kResetRows:
      ChangeRows([](RowList& list) { list.Reset(); });
      return true;
    case CommandId::kTheme:
      look_.theme = look_.theme == ThemeId::kDark ? ThemeId::kLight : ThemeId::kDark;
      return true;
    case CommandId::kColors:
      look_.colors = NextColorMode(look_.colors);
      return true;
    default:
      return false;
  }
}

void Timeline::Remember() {
  stepping_ = false;
  if (history_.size() == kHistory) history_.erase(history_.begin());
  history_.push_back({view_, scroll_px_});
}

// Twenty notches of the wheel are one thing to take back.
void Timeline::BeginStep() {
  if (!stepping_) Remember();
  stepping_ = true;
}

void Timeline::Back() {
  stepping_ = false;
  if (history_.empty()) return;
  view_ = history_.back().view;
  view_.SetWidth(Plot().width());
  FollowSight();
  ScrollTo(history_.back().scroll_px);
  history_.pop_back();
}

void Timeline::FitSelection() {
  if (measure_) {
    Fit(measure_->start, measure_->end);
  } else if (selection_) {
    const auto [start, end] = EventTimes(run_, model_, *selection_);
    Fit(start, end);
  }
}

void Timeline::MeasureSelection() {
  if (!selection_) return;
  const auto [start, end] = EventTimes(run_, model_, *selection_);
  measure_ = Measure{start, end, selection_->row};
}

void Timeline::Step(int events) {
  if (!selection_) return;
  const auto last = static_cast<std::int64_t>(model_.lane(*selection_).size()) - 1;
  EventRef next = *selection_;
  next.event = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(next.event) + events, 0, last));
  Reveal(next);
}

// Ranks follow each other in a ring: after the last comes the first.
void Timeline::FollowLink() {
  if (!selection_) return;
  const auto& [causes, effects, left_out, peers] = selection_links_;
  if (!effects.empty()) return Reveal(EventRef(effects.front()));
  if (peers.empty()) return;
  const std::uint32_t rank = model_.rows[selection_->row].rank;
  const auto next = std::find_if(peers.begin(), peers.end(), [&](const EventRef& peer) {
    return model_.rows[peer.row].rank > rank;
  });
  Reveal(EventRef(next != peers.end() ? *next : peers.front()));
}

void Timeline::FollowLinkBack() {
  if (!selection_) return;
  const auto& [causes, effects, left_out, peers] = selection_links_;
  if (!causes.empty()) return Reveal(EventRef(causes.front()));
  if (peers.empty()) return;
  const std::uint32_t rank = model_.rows[selection_->row].rank;
  const auto before = std::find_if(peers.rbegin(), peers.rend(), [&](const EventRef& peer) {
    return model_.rows[peer.row].rank < rank;
  });
  Reveal(EventRef(before != peers.rend() ? *before : peers.back()));
}

void Timeline::Clear() {
  if (measure_) {
    measure_.reset();
  } else if (!marked_places_.empty()) {
    marked_places_ = MarkedPlaces();
  } else {
    Select(std::nullopt);
  }
}

void Timeline::Select(const std::optional<EventRef>& ref) {
  selection_ = ref;
  selection_links_ = ref && links_ != nullptr ? links_->Of(*ref) : LinkedEvents{};
}

void Timeline::Reveal(const EventRef& ref) {
  Select(ref);
  const auto [start, end] = EventTimes(run_, model_, ref);
  const bool in_time = end >= view_.start_ns() && start < view_.end_ns();
  if (in_time && IsOnScreen(ref.row)) return;
  Remember();
  if (!in_time) {
    const TimeNs before = view_.span_ns() / 2;
    view_.Show(start - before, start - before + view_.span_ns());
    FollowSight();
  }
  ScrollToRow(ref.row);
}

void Timeline::RevealRange(const Measure& range) {
  SetMeasure(range);
  Fit(range.start, range.end);
  if (range.row != kNone) ScrollToGroup(range.row);
}

bool Timeline::IsOnScreen(std::uint32_t row) const {
  if (!layout_.Shows(row) || layout_.IsPinned(row)) return layout_.Shows(row);
  return layout_.top_px(row) >= scroll_px_ + layout_.pinned_px() &&
         layout_.bottom_px(row) <= scroll_px_ + Plot().height();
}

void Timeline::ScrollToRow(std::uint32_t row) {
  if (!layout_.Shows(row)) ChangeRows([row](RowList& list) { list.Reveal(row); });
  if (layout_.IsPinned(row)) return;
  const float top = layout_.top_px(row), bottom = layout_.bottom_px(row);
  if (top < scroll_px_ + layout_.pinned_px()) ScrollTo(top - layout_.pinned_px());
  if (bottom > scroll_px_ + Plot().height()) ScrollTo(bottom - Plot().height());
}

void Timeline::RevealAtTop(std::uint32_t row) {
  ScrollToRow(row);
  if (!layout_.IsPinned(row)) ScrollTo(layout_.top_px(row) - layout_.pinned_px());
}

float Timeline::GroupBottom(std::uint32_t row) const {
  float bottom = layout_.bottom_px(row);
  const auto is_inside = [&](std::uint32_t other) {
    while (other != kNone && other != row) other = model_.rows[other].parent;
    return other == row;
  };
  for (std::uint32_t other = row + 1; other < model_.rows.size() && is_inside(other); ++other) {
    if (layout_.Shows(other)) bottom = std::max(bottom, layout_.bottom_px(other));
  }
  return bottom;
}

void Timeline::ScrollToGroup(std::uint32_t row) {
  if (!layout_.Shows(row)) ChangeRows([row](RowList& list) { list.Reveal(row); });
  if (layout_.IsPinned(row)) return;
  const float room = Plot().height() - layout_.pinned_px();
  // A row is not left at the very bottom.
  const float below =
      std::max(GroupBottom(row), layout_.bottom_px(row) + kScrollLanes * sizes_.lane);
  const float bottom = std::min(below, layout_.bottom_px(row) + room / 2);
  float top = layout_.top_px(row);
  for (std::uint32_t group = 0; group < row; ++group) {
    const bool fits =
        layout_.Shows(group) && !layout_.IsPinned(group) && bottom - layout_.top_px(group) <= room;
    if (fits && model_.rows[group].rank == model_.rows[row].rank && row_list_.IsGroup(group)) {
      top = std::min(top, layout_.top_px(group));
    }
  }
  const float shown_top = scroll_px_ + layout_.pinned_px();
  if (top >= shown_top && bottom <= shown_top + room) return;
  ScrollTo(top - layout_.pinned_px());
}

std::uint32_t ChosenRow(const Timeline& timeline) {
  if (timeline.measure()) return timeline.measure()->row;
  return timeline.selection() ? timeline.selection()->row : kNone;
}

}  // namespace traceinject
