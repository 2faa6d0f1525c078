// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/common/units.h"
#include "viewer/core/event_text.h"
#include "viewer/core/ruler.h"

namespace traceinject {
namespace {

constexpr Rgba kBackground = 0x1b1e23ff;
constexpr Rgba kRowTint = 0x20242aff;
constexpr Rgba kHeading = 0x2d343dff;
constexpr Rgba kRulerFill = 0x262b32ff;
constexpr Rgba kGrid = 0xffffff12;
constexpr Rgba kDivider = 0x00000080;
constexpr Rgba kText = 0xe4e8edff;
constexpr Rgba kDimText = 0x98a2adff;
constexpr Rgba kSelected = 0xffffffff;
constexpr Rgba kHovered = 0xffffffa0;
constexpr Rgba kMeasureFill = 0xffffff20;
constexpr Rgba kMeasureEdge = 0xffe082ff;
constexpr Rgba kGapFill = 0xd9534f38;
constexpr Rgba kBeingReadFill = 0xffffff0c;

constexpr float kTickApartPx = 130;
constexpr float kLabelledPx = 30;  // narrower boxes stay without text
constexpr float kSeparatedPx = 4;  // wider boxes leave a pixel free to the next one
constexpr float kTextPadPx = 4;
constexpr float kLeastHeightPx = 2;  // so that a column that is hardly busy is seen
constexpr float kIndentPx = 14;

float Middle(const Box& box, const Canvas& canvas) {
  return box.top + std::floor((box.height() - canvas.TextHeight()) / 2);
}

class Painter {
 public:
  Painter(const Timeline& timeline, Canvas& canvas)
      : timeline_(timeline),
        model_(timeline.model()),
        view_(timeline.view()),
        canvas_(canvas),
        plot_(timeline.Plot()) {}

  void Paint() {
    canvas_.Fill(timeline_.Panel(), kBackground);
    ticks_ = RulerTicks(view_, model_.origin, kTickApartPx);
    const float scroll = timeline_.scroll_px();
    const auto [first, last] = timeline_.layout().VisibleRows(scroll, scroll + plot_.height());

    canvas_.Clip(plot_);
    for (std::size_t row = first; row < last; ++row) PaintRowBackground(row);
    for (const Tick& tick : ticks_) {
      const float x = X(tick.time);
      canvas_.Fill({x, plot_.top, x + 1, plot_.bottom}, kGrid);
    }
    for (std::size_t row = first; row < last; ++row) PaintLanes(row);
    PaintGaps(first, last);
    PaintMeasureBand();
    canvas_.Unclip();

    canvas_.Clip(timeline_.Labels());
    for (std::size_t row = first; row < last; ++row) PaintLabel(row);
    canvas_.Unclip();

    canvas_.Clip({0, plot_.top, plot_.right, plot_.bottom});
    for (std::size_t row = first; row < last; ++row) {
      if (model_.rows[row].kind == RowKind::kRank) PaintHeading(row);
    }
    canvas_.Unclip();
    PaintRuler();
  }

 private:
  float X(TimeNs time) const { return plot_.left + std::floor(view_.X(time)); }

  Box RowBox(std::size_t row) const {
    return {plot_.left, timeline_.RowsTop() + timeline_.layout().top_px(row), plot_.right,
            timeline_.RowsTop() + timeline_.layout().bottom_px(row)};
  }

  Box LaneBox(std::size_t row, std::size_t lane) const {
    const float top = timeline_.RowsTop() + timeline_.layout().lane_top_px(row, lane);
    return {plot_.left, top, plot_.right, top + timeline_.layout().lane_px(row) - 1};
  }

  void PaintRowBackground(std::size_t row) {
    if (row % 2 == 1) canvas_.Fill(RowBox(row), kRowTint);
    const Box box = RowBox(row);
    canvas_.Fill({box.left, box.bottom - 1, box.right, box.bottom}, kDivider);
  }

  void PaintHeading(std::size_t row) {
    Box box = RowBox(row);
    box.left = 0;
    canvas_.Fill({box.left, box.top, box.right, box.bottom - 1}, kHeading);
    const Row& heading = model_.rows[row];
    canvas_.Text(kTextPadPx, Middle(box, canvas_), kText, heading.label, box);
    const float label_end = kTextPadPx + canvas_.TextWidth(heading.label) + 2 * kIndentPx;
    canvas_.Text(std::max(label_end, plot_.left + kTextPadPx), Middle(box, canvas_), kDimText,
                 heading.note, box);
  }

  void PaintLabel(std::size_t index) {
    const Row& row = model_.rows[index];
    if (row.kind == RowKind::kRank) return;
    Box box = RowBox(index);
    box.left = 0;
    box.right = plot_.left;
    canvas_.Fill({box.left, box.top, box.right, box.bottom - 1},
                 index % 2 == 1 ? kRowTint : kBackground);
    canvas_.Fill({box.left, box.bottom - 1, box.right, box.bottom}, kDivider);
    const Box line{box.left, box.top, box.right,
                   box.top + std::max(timeline_.layout().lane_px(index), canvas_.TextHeight()) + 4};
    const float y = Middle(line, canvas_);
    const std::string busy =
        fmt::format("{:.1f} %", 100 * row.BusyShare(view_.start_ns(), view_.end_ns()));
    const float busy_left = box.right - kTextPadPx - canvas_.TextWidth(busy);
    canvas_.Text(busy_left, y, kText, busy, box);

    const Box room{0, box.top, busy_left - kTextPadPx, box.bottom};
    const float left = kTextPadPx + (row.kind == RowKind::kStream ? kIndentPx : 0);
    canvas_.Text(left, y, kText, row.label, room);
    std::string note = row.note;
    if (row.hidden > 0) {
      note = fmt::format("{} not shown: too many at once", row.hidden);
    }
    canvas_.Text(left + canvas_.TextWidth(row.label) + 2 * kTextPadPx, y, kDimText, note, room);
  }

  void PaintLanes(std::size_t row) {
    const std::vector<Lane>& lanes = model_.rows[row].lanes;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const Box box = LaneBox(row, lane);
      if (box.bottom <= plot_.top || box.top >= plot_.bottom) continue;
      lanes[lane].Query(view_.start_ns(), view_.end_ns(), view_.ns_per_px(), spans_);
      for (const LaneSpan& span : spans_) {
        const Box where = SpanBox(span, box);
        if (span.exact) {
          FlushColumn();
          PaintEvent({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(lane),
                      span.summary.event},
                     where);
        } else {
          AddColumn(where, span.summary, model_.rows[row].kind, lanes[lane]);
        }
      }
      FlushColumn();
    }
  }

  // At least a pixel wide and on whole pixels: what is narrower may fall between two pixel centres.
  Box SpanBox(const LaneSpan& span, const Box& lane) const {
    const float left = X(span.start);
    return {left, lane.top, std::max(X(span.end), left + 1), lane.bottom};
  }

  void PaintEvent(const EventRef& ref, const Box& box) {
    const Ink ink = model_.lane(ref).ink(ref.event);
    const bool whole_gpu = model_.rows[ref.row].kind == RowKind::kDevice;
    const Rgba colour = whole_gpu ? FillColour(CategoryOf(ink)) : FillColour(ink);
    Box inner = box;
    if (box.width() >= kSeparatedPx) inner.right -= 1;
    canvas_.Fill(inner, colour);
    PaintEventText(ref, inner, TextColourOn(colour));
    if (timeline_.selection() == ref) {
      canvas_.Outline(box, kSelected);
    } else if (timeline_.hover() == ref) {
      canvas_.Outline(box, kHovered);
    }
  }

  void PaintEventText(const EventRef& ref, const Box& box, Rgba colour) {
    const Box seen{std::max(box.left, plot_.left), box.top, std::min(box.right, plot_.right),
                   box.bottom};
    if (seen.width() < kLabelledPx || seen.height() < canvas_.TextHeight()) return;
    std::string_view label = EventLabel(timeline_.run(), model_, ref);
    if (canvas_.TextWidth(label) > seen.width() - 2 * kTextPadPx) {
      // The last part of a qualified name tells most.
      const std::size_t scope = label.rfind("::");
      if (scope != std::string_view::npos) label.remove_prefix(scope + 2);
    }
    label = label.substr(0, FittingBytes(label, seen.width() - 2 * kTextPadPx));
    canvas_.Text(seen.left + kTextPadPx, Middle(box, canvas_), colour, label, seen);
  }

  // The longest start of the text that is no wider than the room and ends with a whole character.
  std::size_t FittingBytes(std::string_view text, float room_px) const {
    if (canvas_.TextWidth(text) <= room_px) return text.size();
    std::size_t fits = 0, too_long = text.size();
    while (too_long - fits > 1) {
      const std::size_t middle = fits + (too_long - fits) / 2;
      (canvas_.TextWidth(text.substr(0, middle)) <= room_px ? fits : too_long) = middle;
    }
    const auto inside_character = [&](std::size_t at) { return (text[at] & 0xc0) == 0x80; };
    while (fits > 0 && inside_character(fits)) --fits;
    return fits;
  }

  // A stretch of columns that look the same, drawn as one.
  struct Column {
    Box box;
    std::array<float, kCategories> heights = {};  // from the bottom; one colour: the first alone
    std::array<Rgba, kCategories> colours = {};
    bool operator==(const Column& other) const {
      return heights == other.heights && colours == other.colours;
    }
  };

  void AddColumn(const Box& box, const LaneSummary& summary, RowKind kind, const Lane& lane) {
    Column column{box, {}, {}};
    if (kind == RowKind::kDevice) {
      for (std::size_t i = 0; i < kCategories; ++i) {
        column.heights[i] = std::round(summary.mix[i] * box.height());
        column.colours[i] = FillColour(static_cast<Category>(i));
      }
    } else {
      column.heights[0] = std::round(summary.busy * box.height());
      column.colours[0] = FillColour(lane.ink(summary.event));
    }
    const float sum = column.heights[0] + column.heights[1] + column.heights[2];
    if (sum < kLeastHeightPx) {
      column.heights = {kLeastHeightPx, 0, 0};
      const Ink ink = lane.ink(summary.event);
      column.colours = {kind == RowKind::kDevice ? FillColour(CategoryOf(ink)) : FillColour(ink), 0,
                        0};
    }
    const bool joins = has_column_ && column_ == column && box.left <= column_.box.right &&
                       box.top == column_.box.top;
    if (joins) {
      column_.box.right = std::max(column_.box.right, box.right);
      return;
    }
    FlushColumn();
    column_ = column;
    has_column_ = true;
  }

  void FlushColumn() {
    if (!has_column_) return;
    has_column_ = false;
    float bottom = column_.box.bottom;
    for (std::size_t i = 0; i < kCategories; ++i) {
      if (column_.heights[i] <= 0) continue;
      const float top = std::max(bottom - column_.heights[i], column_.box.top);
      canvas_.Fill({column_.box.left, top, column_.box.right, bottom}, column_.colours[i]);
      bottom = top;
    }
  }

  void PaintGaps(std::size_t first, std::size_t last) {
    for (const RowGap& gap : model_.gaps) {
      if (gap.end < view_.start_ns() || gap.start >= view_.end_ns()) continue;
      for (std::size_t row = first; row < last; ++row) {
        if (model_.rows[row].rank != gap.rank) continue;
        const Box box = RowBox(row);
        const Box where{X(gap.start), box.top, std::max(X(gap.end), X(gap.start) + 1), box.bottom};
        canvas_.Fill(where, gap.being_read ? kBeingReadFill : kGapFill);
        canvas_.Text(std::max(where.left, plot_.left) + kTextPadPx, Middle(box, canvas_), kText,
                     (gap.being_read ? "" : "not recorded: ") + gap.reason, where);
      }
    }
  }

  void PaintMeasureBand() {
    if (!timeline_.measure()) return;
    const float left = X(timeline_.measure()->start);
    const float right = std::max(X(timeline_.measure()->end), left + 1);
    canvas_.Fill({left, plot_.top, right, plot_.bottom}, kMeasureFill);
    canvas_.Fill({left, plot_.top, left + 1, plot_.bottom}, kMeasureEdge);
    canvas_.Fill({right - 1, plot_.top, right, plot_.bottom}, kMeasureEdge);
  }

  void PaintRuler() {
    const Box ruler{0, 0, plot_.right, Timeline::kRulerPx};
    canvas_.Fill(ruler, kRulerFill);
    const Box labels{0, 0, plot_.left - kTextPadPx, ruler.bottom};
    canvas_.Text(kTextPadPx, Middle(ruler, canvas_), kDimText,
                 FormatTime(view_.span_ns()) + " shown", labels);
    const char* const busy = "busy";
    canvas_.Text(labels.right - canvas_.TextWidth(busy), Middle(ruler, canvas_), kDimText, busy,
                 labels);
    const Box plot{plot_.left, 0, plot_.right, ruler.bottom};
    for (const Tick& tick : ticks_) {
      const float x = X(tick.time);
      if (x < plot.left) continue;
      canvas_.Fill({x, ruler.bottom - 6, x + 1, ruler.bottom}, kDimText);
      // A label that would be cut off is left out: "12.3" of "12.345 s" is another time.
      if (x + kTextPadPx + canvas_.TextWidth(tick.label) > plot.right) continue;
      canvas_.Text(x + kTextPadPx, Middle(ruler, canvas_), kDimText, tick.label, plot);
    }
    if (timeline_.measure()) PaintMeasureText(plot);
  }

  void PaintMeasureText(const Box& ruler) {
    const std::string text = FormatTime(timeline_.measure()->end - timeline_.measure()->start);
    const float width = canvas_.TextWidth(text) + 2 * kTextPadPx;
    const float centre = (X(timeline_.measure()->start) + X(timeline_.measure()->end)) / 2;
    const float most = std::max(ruler.right - width, ruler.left);
    const float left = std::floor(std::clamp(centre - width / 2, ruler.left, most));
    const Box box{left, ruler.top + 2, left + width, ruler.bottom - 2};
    canvas_.Fill(box, kMeasureEdge);
    canvas_.Text(left + kTextPadPx, Middle(box, canvas_), TextColourOn(kMeasureEdge), text, box);
  }

  const Timeline& timeline_;
  const RowModel& model_;
  const TimelineView& view_;
  Canvas& canvas_;
  Box plot_;
  std::vector<Tick> ticks_;
  std::vector<LaneSpan> spans_;
  Column column_;
  bool has_column_ = false;
};

}  // namespace

void PaintTimeline(const Timeline& timeline, Canvas& canvas) { Painter(timeline, canvas).Paint(); }

}  // namespace traceinject
