// SPDX-License-Identifier: Apache-2.0
// The mouse on the timeline.
#include <algorithm>
#include <cmath>
#include <utility>

#include "viewer/core/timeline/timeline.h"

namespace traceinject {

bool Timeline::InPlot(float x, float y) const {
  const Box plot = Plot();
  return x >= plot.left && x < plot.right && y >= plot.top && y < plot.bottom;
}

std::uint32_t Timeline::RowAt(float y) const {
  return y < sizes_.ruler || y >= height_px_ ? kNone : layout_.RowAt(LayoutY(y));
}

std::optional<EventRef> Timeline::EventAt(float x, float y) const {
  if (!InPlot(x, y)) return std::nullopt;
  const auto [row, lane] = layout_.At(LayoutY(y), model_);
  if (row >= model_.rows.size() || lane >= model_.rows[row].lanes.size()) return std::nullopt;
  std::vector<LaneSpan> spans;
  model_.rows[row].lanes[lane].Query(view_.start_ns(), view_.end_ns(), view_.ns_per_px(), spans);
  float nearest_px = sizes_.hit_slack;
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
  double nearest = sizes_.snap * view_.ns_per_px();
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

std::optional<TimeNs> Timeline::PointerTime() const {
  const Box plot = Plot();
  const bool inside = pointer_x_ >= plot.left && pointer_x_ < plot.right && pointer_y_ >= 0 &&
                      pointer_y_ < plot.bottom;
  if (!inside) return std::nullopt;
  return SnappedTime(pointer_x_, pointer_y_);
}

Box Timeline::EventBox(const EventRef& ref) const {
  const Lane& lane = model_.lane(ref);
  const float left = Plot().left + std::floor(view_.X(lane.start(ref.event)));
  const float right = Plot().left + std::floor(view_.X(lane.end(ref.event)));
  const float top = LaneTop(ref.row, ref.lane);
  return {left, top, std::max(right, left + 1), top + layout_.lane_px(ref.row) - sizes_.line};
}

std::optional<TimeNs> Timeline::EdgeAtPointer() const {
  if (!measure_ || !InPlot(pointer_x_, pointer_y_)) return std::nullopt;
  // Elsewhere there is no edge to be seen.
  const RowOwner owner = MeasureOwner();
  const std::uint32_t row = RowAt(pointer_y_);
  if (owner.rank != kNone && (row == kNone || !owner.Has(model_.rows[row]))) return std::nullopt;
  const auto distance = [&](TimeNs time) {
    return std::abs(Plot().left + view_.X(time) - pointer_x_);
  };
  const float to_start = distance(measure_->start), to_end = distance(measure_->end);
  if (std::min(to_start, to_end) > sizes_.grab) return std::nullopt;
  return to_start < to_end ? measure_->end : measure_->start;
}

void Timeline::SetHover(const std::optional<EventRef>& ref) {
  if (ref == hover_) return;
  hover_ = ref;
  hover_links_ = ref && links_ != nullptr ? links_->Of(*ref) : LinkedEvents{};
}

void Timeline::MovePointer(float x, float y, Modifiers held) {
  const float moved_x = x - pointer_x_, moved_y = y - pointer_y_;
  pointer_x_ = x;
  pointer_y_ = y;
  if (drag_ == Drag::kPan && (moved_x != 0 || moved_y != 0)) {
    BeginStep();
    view_.Pan(-static_cast<double>(moved_x));
    FollowSight();
    ScrollTo(scroll_px_ - moved_y);
  } else if (drag_ != Drag::kIdle && drag_ != Drag::kPan) {
    DragTo(x, y, held);
  }
  if (drag_ == Drag::kIdle || drag_ == Drag::kPress) SetHover(EventAt(x, y));
}

void Timeline::DragTo(float x, float y, Modifiers held) {
  const bool far = std::abs(x - press_x_) > sizes_.click_slack;
  if (drag_ == Drag::kPress && far) drag_ = Drag::kMeasure;
  if (drag_ == Drag::kPress) return;
  const float inside = std::clamp(x, Plot().left, Plot().right);
  if (drag_ == Drag::kZoomRange) {
    zoom_range_.reset();
    if (far) zoom_range_ = std::minmax(press_time_, view_.TimeAt(inside - Plot().left));
    return;
  }
  const TimeNs time = held.alt ? view_.TimeAt(inside - Plot().left) : SnappedTime(inside, y);
  measure_ = Measure{std::min(press_time_, time), std::max(press_time_, time), press_row_};
}

void Timeline::PointerLeft() {
  pointer_x_ = pointer_y_ = -1;
  SetHover(std::nullopt);
}

bool Timeline::FoldAtPointer() {
  const std::uint32_t row = PointerRow();
  if (row == kNone || !row_list_.IsGroup(row)) return false;
  const bool on_heading = pointer_x_ < Plot().left && IsHeading(model_.rows[row].kind);
  const Box triangle = Triangle(row);
  if (!on_heading && (pointer_x_ < triangle.left || pointer_x_ >= triangle.right)) return false;
  ChangeRows([row](RowList& list) { list.ToggleCollapsed(row); });
  return true;
}

void Timeline::Press(PointerButton button, bool twice, Modifiers held) {
  if (drag_ != Drag::kIdle) return;
  if (button == PointerButton::kLeft && FoldAtPointer()) return;
  const Box plot = Plot();
  if (pointer_x_ < plot.left || pointer_x_ >= plot.right) return;
  drag_button_ = button;
  press_x_ = pointer_x_;
  press_y_ = pointer_y_;
  if (button == PointerButton::kRight || (button == PointerButton::kLeft && held.shift)) {
    drag_ = Drag::kPan;
    return;
  }
  if (button == PointerButton::kMiddle) {
    drag_ = Drag::kZoomRange;
    press_time_ = view_.TimeAt(pointer_x_ - plot.left);
    return;
  }
  if (const std::optional<TimeNs> other = EdgeAtPointer()) {
    drag_ = Drag::kPress;
    press_time_ = *other;
    press_row_ = measure_->row;
    return;
  }
  if (twice && selection_ && EventAt(pointer_x_, pointer_y_)) {
    measure_.reset();
    FitSelection();
    return;
  }
  drag_ = Drag::kPress;
  press_row_ = RowAt(press_y_);
  press_time_ =
      held.alt ? view_.TimeAt(pointer_x_ - plot.left) : SnappedTime(pointer_x_, pointer_y_);
}

void Timeline::Release(PointerButton button) {
  if (drag_ == Drag::kIdle || button != drag_button_) return;
  const Drag ended = std::exchange(drag_, Drag::kIdle);
  if (ended == Drag::kPress) {
    measure_.reset();
    Select(EventAt(pointer_x_, pointer_y_));
  } else if (ended == Drag::kZoomRange && zoom_range_) {
    const auto [start, end] = *std::exchange(zoom_range_, std::nullopt);
    Show(start, end);
  }
}

void Timeline::DropDrag() {
  drag_ = Drag::kIdle;
  zoom_range_.reset();
}

void Timeline::Turn(const WheelTurn& wheel) {
  const Box plot = Plot();
  if (wheel.control) {
    BeginStep();
    const float anchor = std::clamp(pointer_x_, plot.left, plot.right) - plot.left;
    view_.ZoomAt(anchor, std::pow(kZoomStep, -static_cast<double>(wheel.steps)));
    FollowSight();
  } else if (wheel.shift) {
    BeginStep();
    view_.Pan(-kPanShare * static_cast<double>(wheel.steps) * plot.width());
    FollowSight();
  } else {
    ScrollTo(scroll_px_ - wheel.steps * kScrollLanes * sizes_.lane);
  }
  SetHover(EventAt(pointer_x_, pointer_y_));
}

}  // namespace traceinject
