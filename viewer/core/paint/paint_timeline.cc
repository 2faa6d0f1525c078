// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/paint_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "analyzer/common/units.h"
#include "analyzer/model/kernel_class.h"
#include "analyzer/view/style/fit_text.h"
#include "viewer/core/paint/paint_lanes.h"
#include "viewer/core/paint/timeline_painter.h"
#include "viewer/core/timeline/ruler.h"

namespace traceinject {
namespace {

float Middle(const Box& box, const Canvas& canvas) {
  return box.top + std::floor((box.height() - canvas.TextHeight()) / 2);
}

// The number at the right of a label, of what is shown of the row: its busy share, or what tells
// more.
std::string RowFigure(const Row& row, const TimelineView& view) {
  if (IsHeading(row.kind)) return "";
  if (row.counter) {
    return fmt::format("max {}", row.counter->Range(view.start_ns(), view.end_ns()).most);
  }
  if (row.kind == RowKind::kSteps) {
    const Lane& steps = row.lanes.front();
    const std::size_t first = steps.FirstEndingAfter(view.start_ns());
    const bool begins_before = first < steps.size() && steps.start(first) < view.start_ns();
    const std::size_t count = row.Count(view.start_ns(), view.end_ns()) + (begins_before ? 1 : 0);
    return FormatCount(static_cast<std::int64_t>(count));
  }
  return fmt::format("{:.1f} %", 100 * row.BusyShare(view.start_ns(), view.end_ns()));
}

class Painter : private TimelinePainter {
 public:
  Painter(const Timeline& timeline, Canvas& canvas)
      : TimelinePainter(timeline, canvas), lanes_(timeline, canvas) {}

  Painted Paint() {
    canvas_.Fill(timeline_.Panel(), theme_.background);
    ticks_ = RulerTicks(view_, model_.origin, sizes_.tick_apart);
    const RowLayout& layout = timeline_.layout();
    const float pinned_bottom = std::min(timeline_.ScrolledTop(), plot_.bottom);
    PaintRows(timeline_.ScrolledRows(), {0, pinned_bottom, plot_.right, plot_.bottom});
    if (!layout.PinnedRows().empty()) {
      PaintRows(layout.PinnedRows(), {0, plot_.top, plot_.right, pinned_bottom});
      canvas_.Fill({0, pinned_bottom - sizes_.line, plot_.right, pinned_bottom}, theme_.dim_text);
    }
    canvas_.Fill({plot_.left - sizes_.line, plot_.top, plot_.left, plot_.bottom}, theme_.divider);
    PaintEmptyText();
    PaintMeasureBand();
    PaintZoomRange();
    PaintRuler();
    return lanes_.painted();
  }

 private:
  // From the left edge of the panel to the right one.
  Box RowBox(std::uint32_t row) const {
    const float top = timeline_.RowTop(row);
    const RowLayout& layout = timeline_.layout();
    return {0, top, plot_.right, top + layout.bottom_px(row) - layout.top_px(row)};
  }

  Rgba RowColor(std::uint32_t row) const {
    const RowKind kind = model_.rows[row].kind;
    if (IsHeading(kind) && kind != RowKind::kQuiet) return theme_.heading;
    return row % 2 == 1 ? theme_.row_tint : theme_.background;
  }

  void PaintRows(std::span<const std::uint32_t> rows, const Box& where) {
    if (rows.empty() || where.bottom <= where.top) return;
    canvas_.Clip({plot_.left, where.top, where.right, where.bottom});
    for (const std::uint32_t row : rows) PaintBackground(RowBox(row), RowColor(row));
    for (const Tick& tick : ticks_) {
      const float x = X(tick.time);
      canvas_.Fill({x, where.top, x + sizes_.line, where.bottom}, theme_.grid);
    }
    for (const std::uint32_t row : rows) lanes_.Paint(row, where);
    PaintGaps(rows);
    canvas_.Unclip();
    canvas_.Clip(where);
    for (const std::uint32_t row : rows) PaintLabel(row);
    canvas_.Unclip();
  }

  void PaintBackground(const Box& box, Rgba color) {
    const float divider = box.bottom - sizes_.line;
    canvas_.Fill({box.left, box.top, box.right, divider}, color);
    canvas_.Fill({box.left, divider, box.right, box.bottom}, theme_.divider);
  }

  void PaintLabel(std::uint32_t index) {
    const Row& row = model_.rows[index];
    const Box box = RowBox(index);
    PaintBackground({box.left, box.top, plot_.left, box.bottom}, RowColor(index));
    const float line_px =
        std::max(timeline_.layout().lane_px(index), canvas_.TextHeight()) + 2 * sizes_.row_pad;
    const Box line{box.left, box.top, plot_.left, box.top + std::min(line_px, box.height())};
    const float y = Middle(line, canvas_);
    const std::string figure = RowFigure(row, view_);
    const float figure_left = line.right - sizes_.text_pad - canvas_.TextWidth(figure);
    canvas_.Text(figure_left, y, theme_.text, figure, line);

    const Box triangle = timeline_.Triangle(index);
    if (timeline_.row_list().IsGroup(index)) PaintTriangle(index, triangle, line);
    // A heading without a summary beside it has the whole width.
    const bool wide = IsHeading(row.kind) && timeline_.row_list().Summary(index).empty();
    const Box room{triangle.right, line.top, wide ? plot_.left : figure_left - sizes_.text_pad,
                   line.bottom};
    const std::string label =
        FitTextWithDots(canvas_, timeline_.row_list().Label(index), room.width());
    canvas_.Text(room.left, y, row.kind == RowKind::kQuiet ? theme_.dim_text : theme_.text, label,
                 room);
    const float label_end = room.left + canvas_.TextWidth(label) + 2 * sizes_.text_pad;
    if (wide) {
      PaintNote(index, std::max(label_end, plot_.left + sizes_.text_pad), y,
                {0, line.top, plot_.right, line.bottom});
    } else {
      PaintNote(index, label_end, y, room);
    }
  }

  void PaintNote(std::uint32_t index, float left, float y, const Box& room) {
    const Row& row = model_.rows[index];
    std::string note = row.note;
    if (row.hidden > 0) note = fmt::format("{} not shown: too many at once", row.hidden);
    if (timeline_.row_list().IsPinned(index)) note = timeline_.row_list().Context(index);
    if (timeline_.row_list().IsEmptied(index)) {
      note = "all its rows are hidden: right-click, Reset rows";
    }
    const float width = room.right - sizes_.text_pad - left;
    if (width <= 0) return;
    canvas_.Text(left, y, theme_.dim_text, FitTextWithDots(canvas_, note, width), room);
  }

  // Points down while the group is open, to the right while it is folded up.
  void PaintTriangle(std::uint32_t row, const Box& box, const Box& line) {
    const float half = sizes_.triangle, line_px = sizes_.line;
    const float center = std::floor((line.top + line.bottom) / 2);
    const bool folded = timeline_.row_list().IsCollapsed(row);
    for (float step = 0; step < half; ++step) {
      if (folded) {
        const float left = box.left + line_px + step;
        canvas_.Fill({left, center - half + step, left + 1, center + half - step}, theme_.dim_text);
      } else {
        const float top = center - 2 * line_px + step;
        canvas_.Fill({box.left + step, top, box.left + 2 * half - step, top + 1}, theme_.dim_text);
      }
    }
  }

  void PaintGaps(std::span<const std::uint32_t> rows) {
    for (const RowGap& gap : model_.gaps) {
      if (gap.end < view_.start_ns() || gap.start >= view_.end_ns()) continue;
      for (const std::uint32_t row : rows) {
        if (model_.rows[row].rank != gap.rank || IsHeading(model_.rows[row].kind)) continue;
        const Box box = RowBox(row);
        const Box where{X(gap.start), box.top, std::max(X(gap.end), X(gap.start) + 1), box.bottom};
        canvas_.Fill(where, gap.being_read ? theme_.being_read : theme_.not_recorded);
        const float left = std::max(where.left, plot_.left) + sizes_.text_pad;
        const float room = std::min(where.right, plot_.right) - left;
        if (room <= 0) continue;
        canvas_.Text(left, Middle(box, canvas_), theme_.text,
                     FitTextWithDots(canvas_, gap.text, room), where);
      }
    }
  }

  void PaintEmptyText() {
    const std::string text = timeline_.row_list().EmptyText();
    if (text.empty()) return;
    const Box box{plot_.left, plot_.top, plot_.right,
                  std::min(plot_.bottom, plot_.top + 4 * sizes_.lane)};
    const std::string fits = FitTextWithDots(canvas_, text, box.width() - 2 * sizes_.text_pad);
    canvas_.Text(box.left + sizes_.text_pad, Middle(box, canvas_), theme_.dim_text, fits, box);
  }

  void PaintMeasureBand() {
    if (!timeline_.measure()) return;
    canvas_.Clip(plot_);
    const float left = X(timeline_.measure()->start);
    const float line = sizes_.line;
    const float right = std::max(X(timeline_.measure()->end), left + line);
    for (const Box& box : timeline_.BoxesOf(timeline_.MeasureOwner())) {
      canvas_.Fill({left, box.top, right, box.bottom}, theme_.measure_fill);
      canvas_.Fill({left, box.top, left + line, box.bottom}, theme_.measure_edge);
      canvas_.Fill({right - line, box.top, right, box.bottom}, theme_.measure_edge);
    }
    canvas_.Unclip();
  }

  // Of all rows, since it is for the whole view: what will be left out is dimmed.
  void PaintZoomRange() {
    if (!timeline_.zoom_range()) return;
    const auto& [start, end] = *timeline_.zoom_range();
    const float left = X(start), right = std::max(X(end), left + sizes_.line);
    canvas_.Clip(plot_);
    canvas_.Fill({plot_.left, plot_.top, left, plot_.bottom}, theme_.not_shown);
    canvas_.Fill({right, plot_.top, plot_.right, plot_.bottom}, theme_.not_shown);
    canvas_.Fill({left, plot_.top, left + sizes_.line, plot_.bottom}, theme_.selected);
    canvas_.Fill({right - sizes_.line, plot_.top, right, plot_.bottom}, theme_.selected);
    canvas_.Unclip();
  }

  void PaintRuler() {
    const Box ruler{0, 0, plot_.right, sizes_.ruler};
    canvas_.Fill(ruler, theme_.ruler);
    // The left half of the labels' column is where the window has its filter.
    const Box labels{0, 0, plot_.left - sizes_.text_pad, ruler.bottom};
    const std::string span = FormatTime(view_.span_ns());
    for (const std::string& shown : {span + " shown", span}) {
      const float left = labels.right - canvas_.TextWidth(shown);
      if (left < plot_.left / 2 + sizes_.text_pad) continue;
      canvas_.Text(left, Middle(ruler, canvas_), theme_.dim_text, shown, labels);
      break;
    }
    const Box plot{plot_.left, 0, plot_.right, ruler.bottom};
    for (const Tick& tick : ticks_) {
      const float x = X(tick.time);
      if (x < plot.left) continue;
      canvas_.Fill({x, ruler.bottom - sizes_.tick, x + sizes_.line, ruler.bottom}, theme_.dim_text);
      // A label that would be cut off is left out: "12.3" of "12.345 s" is another time.
      if (x + sizes_.text_pad + canvas_.TextWidth(tick.label) > plot.right) continue;
      canvas_.Text(x + sizes_.text_pad, Middle(ruler, canvas_), theme_.dim_text, tick.label, plot);
    }
    if (const auto& measure = timeline_.measure())
      PaintLength(measure->start, measure->end, theme_.measure_edge, plot);
    if (const auto& zoom = timeline_.zoom_range())
      PaintLength(zoom->first, zoom->second, theme_.selected, plot);
  }

  // Of a range, over its middle.
  void PaintLength(TimeNs start, TimeNs end, Rgba color, const Box& ruler) {
    const std::string text = FormatTime(end - start);
    const float width = canvas_.TextWidth(text) + 2 * sizes_.text_pad;
    const float center = (X(start) + X(end)) / 2;
    const float most = std::max(ruler.right - width, ruler.left);
    const float left = std::floor(std::clamp(center - width / 2, ruler.left, most));
    const Box box{left, ruler.top + 2 * sizes_.line, left + width, ruler.bottom - 2 * sizes_.line};
    canvas_.Fill(box, color);
    canvas_.Text(left + sizes_.text_pad, Middle(box, canvas_), TextColorOn(color), text, box);
  }

  LanePainter lanes_;
  std::vector<Tick> ticks_;
};

// Of the row of a whole GPU.
void AddCategories(const InkSet& inks, Painted& painted) {
  for (std::size_t ink = 0; ink < inks.size(); ++ink) {
    if (!inks.test(ink)) continue;
    const Category category = CategoryOf(static_cast<Ink>(ink));
    if (category != Category::kHost) painted.categories[static_cast<std::size_t>(category)] = true;
  }
}

}  // namespace

Painted Paintable(const RowModel& model, const Look& look) {
  Painted painted;
  painted.waits = model.waits.any();
  InkSet operations;
  for (const Row& row : model.rows) {
    for (const Lane& lane : row.lanes) {
      if (row.kind == RowKind::kDevice) {
        AddCategories(lane.inks(), painted);
      } else {
        (row.kind == RowKind::kStream ? operations : painted.inks) |= lane.inks();
      }
    }
  }
  painted.by_hue = look.colors != ColorMode::kClass && operations.any();
  // By name all kernels have a color of their own, by stream copies as well.
  for (const KernelClass kernel_class : AllKernelClasses()) {
    const auto ink = static_cast<std::size_t>(InkOf(kernel_class));
    const bool copies =
        kernel_class == KernelClass::kMemcpy || kernel_class == KernelClass::kMemset;
    const bool has_ink =
        look.colors == ColorMode::kClass || (look.colors == ColorMode::kName && copies);
    if (operations.test(ink) && has_ink) painted.inks.set(ink);
  }
  return painted;
}

Painted PaintTimeline(const Timeline& timeline, Canvas& canvas) {
  return Painter(timeline, canvas).Paint();
}

}  // namespace traceinject
