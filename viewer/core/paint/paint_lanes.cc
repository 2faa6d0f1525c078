// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/paint_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/view/rows/code_text.h"
#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/style/fit_text.h"

namespace traceinject {
namespace {

constexpr unsigned kPale = 110, kNotMarked = 60;  // opacity

// Of the name of an event the part that tells most.
std::string_view ShortLabel(RowKind kind, std::string_view label) {
  if (IsOfCode(kind)) {
    // Of a line of the program where it is, of a frame what it does.
    constexpr std::string_view kIn = " in ";
    const std::size_t in = label.find(kIn);
    if (in == std::string_view::npos) return label;
    return kind == RowKind::kCode ? label.substr(0, in) : label.substr(in + kIn.size());
  }
  const std::size_t scope = label.rfind("::");
  return scope == std::string_view::npos ? label : label.substr(scope + 2);
}

}  // namespace

void LanePainter::Paint(std::uint32_t row, const Box& visible) {
  const auto shows = [&visible](const Box& box) {
    return box.bottom > visible.top && box.top < visible.bottom;
  };
  for (const std::uint32_t inside : timeline_.row_list().Summary(row)) {
    const Box box = LaneBox(inside, 0);
    if (!shows(box)) continue;
    PaintUnderlay(model_.rows[inside].beside_first, box);
    PaintLane(inside, 0, box);
  }
  if (model_.rows[row].counter) PaintCounter(row);
  for (std::uint32_t lane = 0; lane < model_.rows[row].lanes.size(); ++lane) {
    const Box box = LaneBox(row, lane);
    if (shows(box)) PaintLane(row, lane, box);
  }
  if (timeline_.hover() != timeline_.selection()) {
    PaintFrame(timeline_.hover(), row, theme_.hovered);
  }
  PaintFrame(timeline_.selection(), row, theme_.selected);
}

// At least a pixel wide and on whole pixels: what is narrower may fall between two pixel centers.
Box LanePainter::SpanBox(TimeNs start, TimeNs end, const Box& lane) const {
  const float left = X(start);
  return {left, lane.top, std::max(X(end), left + 1), lane.bottom};
}

Box LanePainter::LaneBox(std::uint32_t row, std::size_t lane) const {
  const float top = timeline_.LaneTop(row, lane);
  return {plot_.left, top, plot_.right, top + timeline_.layout().lane_px(row) - sizes_.line};
}

Rgba LanePainter::CategoryColor(Category category) {
  if (category != Category::kHost) painted_.categories[static_cast<std::size_t>(category)] = true;
  return FillColor(category);
}

Rgba LanePainter::Color(const Row& row, const Lane& lane, std::uint32_t event) {
  const Ink ink = lane.ink(event);
  if (row.kind == RowKind::kDevice) return CategoryColor(CategoryOf(ink));
  const ColorMode mode = timeline_.look().colors;
  if (row.kind == RowKind::kStream && mode != ColorMode::kClass) {
    const GpuOps& ops = timeline_.run().ranks[row.rank].devices[row.device].ops;
    const std::uint32_t op = lane.source(event);
    if (mode == ColorMode::kStream || ops.kind[op] == OpKind::kKernel) {
      painted_.by_hue = true;
      return HueColor(mode == ColorMode::kStream ? row.stream
                                                 : model_.kernel_hues[row.rank][ops.detail[op]]);
    }
  }
  painted_.inks.set(static_cast<std::size_t>(ink));
  return FillColor(ink);
}

// Of Python code, beside the places that are marked.
bool LanePainter::IsPale(const EventRef& ref) const {
  const MarkedPlaces& marked = timeline_.marked_places();
  if (marked.empty()) return false;
  const std::uint32_t place = PlaceOf(timeline_.run(), model_, ref);
  return place != kNone && !marked.Has(model_.rows[ref.row].rank, place);
}

void LanePainter::PaintLane(std::uint32_t row, std::uint32_t lane_index, const Box& box) {
  const Lane& lane = model_.rows[row].lanes[lane_index];
  lane.Query(view_.start_ns(), view_.end_ns(), view_.ns_per_px(), spans_);
  for (const LaneSpan& span : spans_) {
    const Box where = SpanBox(span.start, span.end, box);
    if (span.exact) {
      FlushColumn();
      PaintEvent({row, lane_index, span.summary.event}, where);
    } else {
      AddColumn(where, span.summary, {row, lane_index, span.summary.event});
    }
  }
  FlushColumn();
}

// Where something goes on in other lanes than the first, whose own events come on top.
void LanePainter::PaintUnderlay(const Lane& others, const Box& box) {
  others.Query(view_.start_ns(), view_.end_ns(), view_.ns_per_px(), spans_);
  for (const LaneSpan& span : spans_) {
    Box where = SpanBox(span.start, span.end, box);
    const float height =
        std::max(std::round(span.summary.busy * box.height()), sizes_.least_height);
    where.top = std::max(where.bottom - height, where.top);
    canvas_.Fill(where, WithAlpha(FillColor(Ink::kCallOther), kPale));
  }
}

void LanePainter::PaintEvent(const EventRef& ref, const Box& box) {
  Rgba color = Color(model_.rows[ref.row], model_.lane(ref), ref.event);
  const bool pale = IsPale(ref);
  if (pale) color = WithAlpha(color, kNotMarked);
  Box inner = box;
  if (box.width() >= sizes_.separated) inner.right -= sizes_.line;
  const std::optional<Box> wait = WaitBox(ref, inner);
  if (!wait) {
    canvas_.Fill(inner, color);
    return PaintEventText(ref, inner, pale ? theme_.dim_text : TextColorOn(color));
  }
  const Box transfer{wait->right, inner.top, inner.right, inner.bottom};
  painted_.waits = true;
  canvas_.Fill(*wait, WithAlpha(color, kWaitAlpha));
  canvas_.Fill(transfer, color);
  // The name where there is more room for it.
  transfer.width() >= wait->width() ? PaintEventText(ref, transfer, TextColorOn(color))
                                    : PaintEventText(ref, *wait, theme_.text);
}

// The part of a collective's kernel in which it waited for other ranks.
std::optional<Box> LanePainter::WaitBox(const EventRef& ref, const Box& box) const {
  const Row& row = model_.rows[ref.row];
  if (row.kind != RowKind::kStream) return std::nullopt;
  const std::optional<TimeNs> transfer =
      model_.waits.TransferStart(row.rank, row.device, model_.lane(ref).start(ref.event));
  if (!transfer) return std::nullopt;
  const float right = std::min(X(*transfer), box.right);
  if (right - box.left < 1) return std::nullopt;
  return Box{box.left, box.top, right, box.bottom};
}

void LanePainter::PaintEventText(const EventRef& ref, const Box& box, Rgba color) {
  const Box seen{std::max(box.left, plot_.left), box.top, std::min(box.right, plot_.right),
                 box.bottom};
  if (seen.width() < sizes_.labelled || seen.height() < canvas_.TextHeight()) return;
  const float room = seen.width() - 2 * sizes_.text_pad;
  std::string_view label = EventLabel(timeline_.run(), model_, ref);
  if (!FitsWhole(canvas_, label, room)) label = ShortLabel(model_.rows[ref.row].kind, label);
  const std::string text = FitTextWithDots(canvas_, label, room);
  const float y = box.top + std::floor((box.height() - canvas_.TextHeight()) / 2);
  canvas_.Text(seen.left + sizes_.text_pad, y, color, text, seen);
}

void LanePainter::PaintFrame(const std::optional<EventRef>& ref, std::uint32_t row, Rgba color) {
  if (!ref || ref->row != row) return;
  const Lane& lane = model_.lane(*ref);
  if (lane.end(ref->event) < view_.start_ns() || lane.start(ref->event) >= view_.end_ns()) return;
  Box box = SpanBox(lane.start(ref->event), lane.end(ref->event), LaneBox(row, ref->lane));
  box.right = std::max(box.right, box.left + sizes_.least_frame);
  canvas_.Outline(box, color, sizes_.line);
}

void LanePainter::PaintCounter(std::uint32_t row) {
  const CounterSeries& series = *model_.rows[row].counter;
  const Box box = LaneBox(row, 0);
  const auto most = static_cast<float>(series.Range(series.start(), series.end()).most);
  if (most <= 0) return;
  const auto height = [&](std::int32_t value) {
    if (value <= 0) return 0.0F;
    return std::max(std::round(static_cast<float>(value) / most * box.height()), sizes_.line);
  };
  series.Query(view_.start_ns(), view_.end_ns(), view_.ns_per_px(), counter_spans_);
  for (const CounterSpan& span : counter_spans_) {
    const float left = X(span.start), right = std::max(X(span.end), left + 1);
    const float low = box.bottom - height(span.range.least);
    const float high = box.bottom - height(span.range.most);
    if (low < box.bottom) canvas_.Fill({left, low, right, box.bottom}, theme_.counter);
    if (high < low) canvas_.Fill({left, high, right, low}, WithAlpha(theme_.counter, kPale));
  }
  if (timeline_.PointerRow() == row) PaintCounterValue(series, box);
}

void LanePainter::PaintCounterValue(const CounterSeries& series, const Box& box) {
  const std::optional<TimeNs> time = timeline_.PointerTime();
  if (!time) return;
  const float x = X(*time);
  const std::string text = fmt::format("{}", series.At(*time));
  const float width = canvas_.TextWidth(text) + 2 * sizes_.text_pad;
  const float right = x + sizes_.line;
  const float left = right + width > plot_.right ? x - width : right;
  const Box label{left, box.top, left + width, box.top + canvas_.TextHeight() + 2 * sizes_.line};
  canvas_.Fill({x, box.top, right, box.bottom}, theme_.selected);
  canvas_.Fill(label, theme_.popup);
  canvas_.Text(left + sizes_.text_pad, box.top + sizes_.line, theme_.text, text, label);
}

void LanePainter::AddColumn(const Box& box, const LaneSummary& summary, const EventRef& ref) {
  Column column{box, {}, {}};
  const Row& row = model_.rows[ref.row];
  Rgba longest = Color(row, model_.lane(ref), ref.event);
  if (IsPale(ref)) longest = WithAlpha(longest, kNotMarked);
  if (row.kind == RowKind::kDevice) {
    for (std::size_t i = 0; i < kCategories; ++i) {
      column.heights[i] = std::round(summary.mix[i] * box.height());
      if (column.heights[i] > 0) column.colors[i] = CategoryColor(static_cast<Category>(i));
    }
  } else {
    column.heights[0] = std::round(summary.busy * box.height());
    column.colors[0] = longest;
  }
  const float sum = column.heights[0] + column.heights[1] + column.heights[2];
  if (sum < sizes_.least_height) {
    column.heights = {sizes_.least_height, 0, 0};
    column.colors = {longest, 0, 0};
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

void LanePainter::FlushColumn() {
  if (!has_column_) return;
  has_column_ = false;
  float bottom = column_.box.bottom;
  for (std::size_t i = 0; i < kCategories; ++i) {
    if (column_.heights[i] <= 0) continue;
    const float top = std::max(bottom - column_.heights[i], column_.box.top);
    canvas_.Fill({column_.box.left, top, column_.box.right, bottom}, column_.colors[i]);
    bottom = top;
  }
}

}  // namespace traceinject
