// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/overview.h"

#include <algorithm>
#include <cmath>

namespace traceinject {

Overview::Overview(const RowModel& model) : model_(model), view_(model.start, model.end) {
  for (std::size_t row = 0; row < model.rows.size(); ++row) {
    if (model.rows[row].kind == RowKind::kDevice) gpus_.push_back(row);
  }
  lines_ = std::min(gpus_.size(), kMaxLines);
}

float Overview::HeightFor(const Sizes& sizes) const {
  const auto lines = static_cast<float>(std::max<std::size_t>(lines_, 1));
  const float line_px = std::clamp(3 * sizes.font / lines, sizes.least_overview_line, sizes.font);
  return std::floor(std::max(lines * line_px, 1.5F * sizes.font) + sizes.overview_marks);
}

void Overview::Resize(float width_px, float height_px, float left_px, const Sizes& sizes) {
  sizes_ = sizes;
  if (width_px == width_px_ && height_px == height_px_ && left_px == left_px_) return;
  width_px_ = width_px;
  height_px_ = height_px;
  left_px_ = left_px;
  view_.SetWidth(width_px - left_px);
  columns_ = static_cast<std::size_t>(std::max(width_px - left_px, 1.0F));
  MeasureLoads();
}

// O(GPUs x (pixels x log n + events / 64)), once a width.
void Overview::MeasureLoads() {
  loads_.assign(lines_ * columns_, {});
  std::vector<float> members(lines_, 0);
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) ++members[gpu * lines_ / gpus_.size()];
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    const std::size_t line = gpu * lines_ / gpus_.size();
    const Lane& lane = model_.rows[gpus_[gpu]].lanes.front();
    for (std::size_t column = 0; column < columns_; ++column) {
      const auto x = static_cast<float>(column);
      const TimeNs from = view_.TimeAt(x);
      const LaneSummary summary = lane.Summarize(from, std::max(view_.TimeAt(x + 1), from + 1));
      for (std::size_t i = 0; i < kCategories; ++i) {
        loads_[line * columns_ + column][i] += summary.mix[i] / members[line];
      }
    }
  }
}

TimeNs Overview::TimeAt(float x_px) const {
  return std::clamp(view_.TimeAt(std::clamp(x_px, left_px_, width_px_) - left_px_),
                    view_.start_ns(), view_.end_ns());
}

Overview::Part Overview::PartAt(float x_px, Interval shown) const {
  const float start = X(shown.start), end = X(shown.end);
  // A narrow box is moved, not resized: its edges are at the same place.
  const float edge = std::min(sizes_.grab, (end - start) / 4);
  if (x_px < start - sizes_.grab || x_px > end + sizes_.grab) return Part::kOutside;
  if (end - start >= sizes_.least_overview_box) {
    if (x_px < start + edge) return Part::kStart;
    if (x_px > end - edge) return Part::kEnd;
  }
  return Part::kInside;
}

bool Overview::OnEdge(float x_px, Interval shown) const {
  const Part part = PartAt(x_px, shown);
  return part == Part::kStart || part == Part::kEnd;
}

void Overview::Press(float x_px, Interval shown) {
  drag_ = PartAt(x_px, shown);
  press_px_ = x_px;
  pressed_ = shown;
  moved_ = false;
}

std::optional<Interval> Overview::Drag(float x_px) {
  if (drag_ == Part::kNothing) return std::nullopt;
  if (!moved_ && std::abs(x_px - press_px_) <= sizes_.click_slack) return std::nullopt;
  moved_ = true;
  const TimeNs time = TimeAt(x_px);
  const auto between = [](TimeNs a, TimeNs b) { return Interval{std::min(a, b), std::max(a, b)}; };
  switch (drag_) {
    case Part::kInside: {
      // By how far the pointer moved, so that leaving the strip loses nothing.
      const auto moved = static_cast<TimeNs>(
          std::llround(static_cast<double>(x_px - press_px_) * view_.ns_per_px()));
      return Interval{pressed_.start + moved, pressed_.end + moved};
    }
    case Part::kStart:
      return between(time, pressed_.end);
    case Part::kEnd:
      return between(pressed_.start, time);
    case Part::kOutside:
      return between(TimeAt(press_px_), time);
    case Part::kNothing:
      break;
  }
  return std::nullopt;
}

std::optional<Interval> Overview::Release(float x_px) {
  const Part ended = drag_;
  drag_ = Part::kNothing;
  if (ended == Part::kNothing || moved_) return std::nullopt;
  const TimeNs half = (pressed_.end - pressed_.start) / 2;
  const TimeNs middle = TimeAt(x_px);
  return Interval{middle - half, middle - half + (pressed_.end - pressed_.start)};
}

// Columns beside each other that look the same are one rectangle: of sixteen lines hardly any
// differ.
void Overview::PaintLine(std::size_t line, float top_px, float bottom_px, Canvas& canvas) const {
  using Heights = std::array<float, kCategories>;
  const auto heights_at = [&](std::size_t column) {
    Heights heights;
    for (std::size_t i = 0; i < kCategories; ++i) {
      // Up, so that a moment of work in a long idle time is seen.
      heights[i] = std::ceil(Load(line, column)[i] * (bottom_px - top_px));
    }
    return heights;
  };
  for (std::size_t first = 0; first < columns_;) {
    const Heights heights = heights_at(first);
    std::size_t last = first + 1;
    while (last < columns_ && heights_at(last) == heights) ++last;
    float y = bottom_px;
    for (std::size_t i = 0; i < kCategories; ++i) {
      const float top = std::max(y - heights[i], top_px);
      if (top < y) {
        canvas.Fill(
            {left_px_ + static_cast<float>(first), top, left_px_ + static_cast<float>(last), y},
            FillColor(static_cast<Category>(i)));
      }
      y = top;
    }
    first = last;
  }
}

void Overview::Paint(Interval shown, const std::vector<bool>& marks, Canvas& canvas,
                     const Theme& theme) const {
  canvas.Fill({0, 0, width_px_, height_px_}, theme.background);
  const float bottom = height_px_ - sizes_.overview_marks;
  const float line_px = lines_ == 0 ? 0 : bottom / static_cast<float>(lines_);
  for (std::size_t line = 0; line < lines_; ++line) {
    PaintLine(line, std::floor(static_cast<float>(line) * line_px),
              std::floor(static_cast<float>(line + 1) * line_px) - sizes_.line, canvas);
  }
  const float start = std::clamp(X(shown.start), left_px_, width_px_);
  const float end =
      std::clamp(std::max(X(shown.end), start + sizes_.least_overview_box), left_px_, width_px_);
  canvas.Fill({left_px_, 0, start, height_px_}, theme.not_shown);
  canvas.Fill({end, 0, width_px_, height_px_}, theme.not_shown);
  for (std::size_t part = 0; part < marks.size(); ++part) {
    if (!marks[part]) continue;
    const double share = (static_cast<double>(part) + 0.5) / static_cast<double>(marks.size());
    const auto span = static_cast<double>(model_.end - model_.start);
    const float x = std::floor(X(model_.start + static_cast<TimeNs>(share * span)));
    canvas.Fill({x, bottom, x + sizes_.line, height_px_}, theme.measure_edge);
  }
  canvas.Outline({start, 0, end, height_px_}, theme.measure_edge, sizes_.line);

  const char* const label = gpus_.empty()       ? "no GPU work"
                            : gpus_.size() == 1 ? "GPU load"
                                                : "GPU load";
  canvas.Text(sizes_.text_pad, std::floor((height_px_ - canvas.TextHeight()) / 2), theme.dim_text,
              label, {0, 0, left_px_ - sizes_.text_pad, height_px_});
}

}  // namespace traceinject
