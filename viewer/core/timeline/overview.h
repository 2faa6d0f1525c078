// SPDX-License-Identifier: Apache-2.0
// The whole run as a strip: the load of every GPU, with a box around what the timeline shows and
// marks where hits of a search are.
//
// Drag inside the box to move it, its edges to change one side, anywhere else to take that stretch
// instead; a click puts the middle of the view there.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/view/rows/rows.h"
#include "analyzer/view/style/canvas.h"
#include "analyzer/view/style/sizes.h"
#include "analyzer/view/style/theme.h"
#include "viewer/core/timeline/timeline_view.h"

namespace traceinject {

class Overview {
 public:
  // More GPUs share lines: a line then is the mean of several.
  static constexpr std::size_t kMaxLines = 16;

  // The model must outlive this.
  explicit Overview(const RowModel& model);

  // Height that shows every line well.
  float HeightFor(const Sizes& sizes) const;
  // `left_px`: room at the left for a label, so that the strip stands above the timeline's plot.
  void Resize(float width_px, float height_px, float left_px, const Sizes& sizes = Sizes());

  // `shown` is what the timeline shows.
  void Press(float x_px, Interval shown);
  // These return what it is to show instead; empty: no change.
  std::optional<Interval> Drag(float x_px);
  std::optional<Interval> Release(float x_px);
  bool dragging() const { return drag_ != Part::kNothing; }
  // Whether the pointer at this pixel would change one side of the box.
  bool OnEdge(float x_px, Interval shown) const;

  // `marks`: of equal parts of [model.start, model.end), those to mark; may be empty.
  // O(pixels x lines), rectangles only where the load changes.
  void Paint(Interval shown, const std::vector<bool>& marks, Canvas& canvas,
             const Theme& theme = DarkTheme()) const;

  float X(TimeNs time) const { return left_px_ + view_.X(time); }
  std::size_t lines() const { return lines_; }
  // Share of a pixel's time that a line is busy, by category. 0 <= column < plot width.
  const std::array<float, kCategories>& Load(std::size_t line, std::size_t column) const {
    return loads_[line * columns_ + column];
  }

 private:
  enum class Part : std::uint8_t { kNothing, kInside, kStart, kEnd, kOutside };

  void MeasureLoads();
  void PaintLine(std::size_t line, float top_px, float bottom_px, Canvas& canvas) const;
  Part PartAt(float x_px, Interval shown) const;
  TimeNs TimeAt(float x_px) const;

  const RowModel& model_;
  Sizes sizes_;
  TimelineView view_;
  std::vector<std::size_t> gpus_;  // rows
  std::size_t lines_ = 0, columns_ = 0;
  float width_px_ = 0, height_px_ = 0, left_px_ = 0;
  std::vector<std::array<float, kCategories>> loads_;  // by line, then column

  Part drag_ = Part::kNothing;
  float press_px_ = 0;
  Interval pressed_;  // what was shown then
  bool moved_ = false;
};

}  // namespace traceinject
