// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "viewer/core/event_text.h"
#include "viewer/core/same_event.h"

namespace traceinject {
namespace {

constexpr double kZoomStep = 1.25;  // a key or a notch of the wheel
constexpr double kPanShare = 0.1;   // of the plot
constexpr float kScrollLanes = 3;   // a key or a notch
constexpr float kClickSlackPx = 4;  // the pointer may move so far in a click
constexpr float kHitSlackPx = 3;
constexpr float kSnapPx = 6;
constexpr std::size_t kHistory = 64;

}  // namespace

Timeline::Timeline(const Run& run, const RowModel& model)
    : run_(run), model_(model), view_(model.start, model.end), row_list_(model) {}

void Timeline::Resize(float width_px, float height_px, float label_px, float lane_px) {
  width_px_ = width_px;
  height_px_ = height_px;
  label_px_ = std::min(label_px, width_px / 2);
  if (lane_px != lane_px_) {
    lane_px_ = lane_px;
    Relayout();
  }
  view_.SetWidth(Plot().width());
  ScrollTo(scroll_px_);
}

void Timeline::Relayout() { layout_ = RowLayout(model_, row_list_, lane_px_); }

void Timeline::ChangeRows(const std::function<void(RowList&)>& change) {
  change(row_list_);
  Relayout();
  ScrollTo(scroll_px_);
  hover_ = EventAt(pointer_x_, pointer_y_);
}

float Timeline::RowTop(std::size_t row) const {
  return (layout_.IsPinned(row) ? kRulerPx : RowsTop()) + layout_.top_px(row);
}

float Timeline::LaneTop(std::size_t row, std::size_t lane) const {
  return RowTop(row) + layout_.lane_top_px(row, lane) - layout_.top_px(row);
}

float Timeline::LayoutY(float y) const { return y - (y < ScrolledTop() ? kRulerPx : RowsTop()); }

Box Timeline::Triangle(std::uint32_t row) const {
  constexpr float kSidePx = 12;
  const float left = 4 + static_cast<float>(row_list_.depth(row)) * kSidePx, top = RowTop(row);
  return {left, top, left + kSidePx, layout_.bottom_px(row) - layout_.top_px(row) + top};
}

std::uint32_t Timeline::PointerRow() const {
  return pointer_x_ < 0 || pointer_x_ >= width_px_ ? kNone : RowAt(pointer_y_);
}

std::optional<TimeNs> Timeline::PointerTime() const {
  if (!InPlot(pointer_x_, pointer_y_)) return std::nullopt;
  return view_.TimeAt(pointer_x_ - Plot().left);
}

void Timeline::PointerLeft() {
  hover_.reset();
  pointer_x_ = pointer_y_ = -1;
}

// What the user chose, for the rows of this run.
RowChoices Timeline::SameChoices(const Timeline& before) const {
  const auto same = [&](std::uint32_t row) {
    return SameRow(before.run_, before.model_, row, run_, model_);
  };
  const RowChoices& old = before.row_list_.choices();
  RowChoices choices;
  for (const std::uint32_t row : old.collapsed) choices.collapsed.insert(same(row));
  for (const std::uint32_t row : old.hidden) choices.hidden.insert(same(row));
  for (const std::uint32_t row : old.pinned) choices.pinned.push_back(same(row));
  choices.filter = old.filter;
  // Only an order that was changed: rows that are new belong among the others.
  if (!std::is_sorted(old.order.begin(), old.order.end())) {
    for (const std::uint32_t row : old.order) choices.order.push_back(same(row));
  }
  return choices;
}

void Timeline::ContinueFrom(const Timeline& before) {
  Resize(before.width_px_, before.height_px_, before.label_px_, before.lane_px_);
  pointer_x_ = before.pointer_x_;
  pointer_y_ = before.pointer_y_;
  help_shown_ = before.help_shown_;
  look_ = before.look_;
  row_list_.Choose(SameChoices(before));
  Relayout();
  // Ranks that joined since may have moved the time that 0 stands for.
  const TimeNs moved = before.run_.base_ns - run_.base_ns;
  if (before.selection_) {
    selection_ = SameEvent(before.run_, before.model_, *before.selection_, run_, model_);
  }
  if (before.measure_) {
    const std::uint32_t row = before.measure_->row;
    measure_ =
        Measure{before.measure_->start + moved, before.measure_->end + moved,
                row == kNone ? kNone : SameRow(before.run_, before.model_, row, run_, model_)};
  }
  history_.clear();
  const TimelineView& view = before.view_;
  const bool all = view.start_ns() <= before.model_.start && view.end_ns() >= before.model_.end;
  if (!all) view_.Show(view.start_ns() + moved, view.end_ns() + moved);
  if (all) view_.ShowAll();
  // The row that stays where it was on the screen: rows above it may be new.
  std::uint32_t row = before.RowAt(kRulerPx);
  if (selection_ && before.layout_.top_px(before.selection_->row) >= before.scroll_px_ &&
      before.layout_.bottom_px(before.selection_->row) <= before.scroll_px_ + Plot().height()) {
    row = before.selection_->row;
  }
  const std::uint32_t same =
      row == kNone ? kNone : SameRow(before.run_, before.model_, row, run_, model_);
  if (same == kNone) return ScrollTo(before.scroll_px_);
  ScrollTo(layout_.top_px(same) + before.scroll_px_ - before.layout_.top_px(row));
}

void Timeline::ScrollTo(float scroll_px) {
  const float most = std::max(layout_.height_px() - Plot().height(), 0.0F);
  scroll_px_ = std::clamp(scroll_px, 0.0F, most);
}

void Timeline::Do(CommandId command) {
  // Keys zoom at the pointer; with the pointer elsewhere, in the middle.
  const Box plot = Plot();
  const float anchor = InPlot(pointer_x_, pointer_y_) ? pointer_x_ - plot.left : plot.width() / 2;
  switch (command) {
    case CommandId::kZoomIn:
      return view_.ZoomAt(anchor, 1 / kZoomStep);
    case CommandId::kZoomOut:
      return view_.ZoomAt(anchor, kZoomStep);
    case CommandId::kPanLeft:
      return view_.Pan(-kPanShare * plot.width());
    case CommandId::kPanRight:
      return view_.Pan(kPanShare * plot.width());
    case CommandId::kScrollUp:
      return ScrollTo(scroll_px_ - kScrollLanes * lane_px_);
    case CommandId::kScrollDown:
      return ScrollTo(scroll_px_ + kScrollLanes * lane_px_);
    case CommandId::kFitSelection:
      return FitSelection();
    case CommandId::kShowAll:
      Remember();
      return view_.ShowAll();
    case CommandId::kPreviousView:
      return Back();
    case CommandId::kPreviousEvent:
      return Step(-1);
    case CommandId::kNextEvent:
      return Step(1);
    case CommandId::kLaunchOrLaunched:
      if (!selection_) return;
      if (const auto partner = LaunchPartner(run_, model_, *selection_)) Reveal(*partner);
      return;
    case CommandId::kClear:
      return Clear();
    case CommandId::kCollapse:
      if (const std::uint32_t row = PointerRow(); row != kNone) {
        const bool group = row_list_.IsGroup(row);
        ChangeRows(
            [&](RowList& list) { list.ToggleCollapsed(group ? row : model_.rows[row].parent); });
      }
      return;
    case CommandId::kPinRow:
      if (const std::uint32_t row = PointerRow(); row != kNone) {
        ChangeRows([row](RowList& list) { list.TogglePinned(row); });
      }
      return;
    case CommandId::kHideRow:
      if (const std::uint32_t row = PointerRow(); row != kNone) {
        ChangeRows([row](RowList& list) { list.Hide(row); });
      }
      return;
    case CommandId::kMoveRowUp:
    case CommandId::kMoveRowDown:
      if (const std::uint32_t row = PointerRow(); row != kNone) {
        ChangeRows(
            [&](RowList& list) { list.Move(row, command == CommandId::kMoveRowUp ? -1 : 1); });
      }
      return;
    case CommandId::kResetRows:
      return ChangeRows([](RowList& list) { list.Reset(); });
    case CommandId::kTheme:
      look_.theme = look_.theme == ThemeId::kDark ? ThemeId::kLight : ThemeId::kDark;
      return;
    case CommandId::kColours:
      look_.colours = NextColourMode(look_.colours);
      return;
    case CommandId::kHelp:
      help_shown_ = !help_shown_;
      return;
  }
}

void Timeline::Remember() {
  if (history_.size() == kHistory) history_.erase(history_.begin());
  history_.push_back(view_);
}

void Timeline::Back() {
  if (history_.empty()) return;
  view_ = history_.back();
  view_.SetWidth(Plot().width());
  history_.pop_back();
}

void Timeline::FitSelection() {
  if (measure_) {
    Remember();
    view_.Fit(measure_->start, measure_->end);
  } else if (selection_) {
    Remember();
    const auto [start, end] = EventTimes(run_, model_, *selection_);
    view_.Fit(start, end);
  }
}

void Timeline::Step(int events) {
  if (!selection_) return;
  const auto last = static_cast<std::int64_t>(model_.lane(*selection_).size()) - 1;
  EventRef next = *selection_;
  next.event = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(next.event) + events, 0, last));
  Reveal(next);
}

void Timeline::Clear() {
  if (help_shown_) {
    help_shown_ = false;
  } else if (measure_) {
    measure_.reset();
  } else {
    selection_.reset();
  }
}

void Timeline::Reveal(const EventRef& ref) {
  selection_ = ref;
  const auto [start, end] = EventTimes(run_, model_, ref);
  if (end < view_.start_ns() || start >= view_.end_ns()) {
    Remember();
    const TimeNs before = view_.span_ns() / 2;
    view_.Show(start - before, start - before + view_.span_ns());
  }
  ScrollToRow(ref.row);
}

void Timeline::RevealRange(const Measure& range) {
  Remember();
  measure_ = range;
  view_.Fit(range.start, range.end);
  if (range.row != kNone) ScrollToRow(range.row);
}

void Timeline::ScrollToRow(std::uint32_t row) {
  if (!layout_.Shows(row)) ChangeRows([row](RowList& list) { list.Reveal(row); });
  if (layout_.IsPinned(row)) return;
  const float top = layout_.top_px(row), bottom = layout_.bottom_px(row);
  if (top < scroll_px_ + layout_.pinned_px()) ScrollTo(top - layout_.pinned_px());
  if (bottom > scroll_px_ + Plot().height()) ScrollTo(bottom - Plot().height());
}

bool Timeline::InPlot(float x, float y) const {
  const Box plot = Plot();
  return x >= plot.left && x < plot.right && y >= plot.top && y < plot.bottom;
}

std::uint32_t Timeline::RowAt(float y) const {
  return y < kRulerPx || y >= height_px_ ? kNone : layout_.RowAt(LayoutY(y));
}

std::optional<EventRef> Timeline::EventAt(float x, float y) const {
  if (!InPlot(x, y)) return std::nullopt;
  const auto [row, lane] = layout_.At(LayoutY(y), model_);
  if (row >= model_.rows.size() || lane >= model_.rows[row].lanes.size()) return std::nullopt;
  std::vector<LaneSpan> spans;
  model_.rows[row].lanes[lane].Query(view_.start_ns(), view_.end_ns(), view_.ns_per_px(), spans);
  float nearest_px = kHitSlackPx;
  std::uint32_t event = kNone;
  for (const LaneSpan& span : spans) {
    const float left = view_.X(span.start) + Plot().left;
    const float right = std::max(view_.X(span.end) + Plot().left, left + 1);
    const float distance = x < left ? left - x : x >= right ? x - right : 0;
    // The later of equals: it is painted on top.
    if (distance > nearest_px) continue;
    nearest_px = distance;
    event = span.summary.event;
  }
  if (event == kNone) return std::nullopt;
  return EventRef{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(lane), event};
}

TimeNs Timeline::SnappedTime(float x, float y) const {
  const TimeNs time = view_.TimeAt(x - Plot().left);
  const auto [row, lane] = layout_.At(LayoutY(y), model_);
  if (row >= model_.rows.size() || lane >= model_.rows[row].lanes.size()) return time;
  const Lane& events = model_.rows[row].lanes[lane];
  const std::size_t next = events.FirstEndingAfter(time);
  TimeNs snapped = time;
  double nearest = kSnapPx * view_.ns_per_px();
  for (std::size_t event = next > 0 ? next - 1 : 0; event < std::min(next + 2, events.size());
       ++event) {
    for (const TimeNs edge : {events.start(event), events.end(event)}) {
      const double distance = std::abs(static_cast<double>(edge - time));
      if (distance > nearest) continue;
      nearest = distance;
      snapped = edge;
    }
  }
  return snapped;
}

void Timeline::MovePointer(float x, float y) {
  const float moved_x = x - pointer_x_, moved_y = y - pointer_y_;
  pointer_x_ = x;
  pointer_y_ = y;
  if (drag_ == Drag::kPan) {
    view_.Pan(-static_cast<double>(moved_x));
    ScrollTo(scroll_px_ - moved_y);
    return;
  }
  const bool far = std::abs(x - press_x_) > kClickSlackPx;
  if (drag_ == Drag::kPress && far) drag_ = Drag::kMeasure;
  if (drag_ == Drag::kMeasure) {
    const TimeNs time = SnappedTime(std::clamp(x, Plot().left, Plot().right), y);
    measure_ = Measure{std::min(press_time_, time), std::max(press_time_, time), RowAt(press_y_)};
    return;
  }
  hover_ = EventAt(x, y);
}

void Timeline::Press(PointerButton button, bool twice) {
  const Box plot = Plot();
  const std::uint32_t row = PointerRow();
  if (button == PointerButton::kLeft && row != kNone && row_list_.IsGroup(row)) {
    const bool on_heading = pointer_x_ < plot.left && IsHeading(model_.rows[row].kind);
    const Box triangle = Triangle(row);
    if (on_heading || (pointer_x_ >= triangle.left && pointer_x_ < triangle.right)) {
      return ChangeRows([row](RowList& list) { list.ToggleCollapsed(row); });
    }
  }
  if (pointer_x_ < plot.left || pointer_x_ >= plot.right) return;
  if (button == PointerButton::kRight) {
    drag_ = Drag::kPan;
    return;
  }
  if (twice && selection_ && EventAt(pointer_x_, pointer_y_)) {
    measure_.reset();
    FitSelection();
    return;
  }
  drag_ = Drag::kPress;
  press_x_ = pointer_x_;
  press_y_ = pointer_y_;
  press_time_ = SnappedTime(pointer_x_, pointer_y_);
}

void Timeline::Release(PointerButton button) {
  const Drag ended = drag_;
  drag_ = Drag::kIdle;
  if (button != PointerButton::kLeft || ended != Drag::kPress) return;
  measure_.reset();
  selection_ = EventAt(pointer_x_, pointer_y_);
}

void Timeline::Turn(const WheelTurn& wheel) {
  if (wheel.control) {
    const Box plot = Plot();
    const float anchor = std::clamp(pointer_x_, plot.left, plot.right) - plot.left;
    view_.ZoomAt(anchor, std::pow(kZoomStep, -static_cast<double>(wheel.steps)));
  } else if (wheel.shift) {
    view_.Pan(-kPanShare * static_cast<double>(wheel.steps) * Plot().width());
  } else {
    ScrollTo(scroll_px_ - wheel.steps * kScrollLanes * lane_px_);
  }
  hover_ = EventAt(pointer_x_, pointer_y_);
}

std::uint32_t ChosenRow(const Timeline& timeline) {
  if (timeline.measure()) return timeline.measure()->row;
  return timeline.selection() ? timeline.selection()->row : kNone;
}

}  // namespace traceinject
