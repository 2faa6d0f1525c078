// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "viewer/core/paint/paint_timeline.h"
#include "viewer/core/paint/timeline_painter.h"

namespace traceinject {

// The events of one row after the other, without anything around them.
class LanePainter : private TimelinePainter {
 public:
  // Both must outlive the painter.
  LanePainter(const Timeline& timeline, Canvas& canvas) : TimelinePainter(timeline, canvas) {}

  // All lanes of a row, or the density of the rows in a collapsed group; only what is in `visible`.
  void Paint(std::uint32_t row, const Box& visible);
  const Painted& painted() const { return painted_; }

 private:
  // Neighboring columns that look alike become one box.
  struct Column {
    Box box;
    std::array<float, kCategories> heights = {};  // from the bottom; one color: the first alone
    std::array<Rgba, kCategories> colors = {};
    bool operator==(const Column& other) const {
      return heights == other.heights && colors == other.colors;
    }
  };

  Box SpanBox(TimeNs start, TimeNs end, const Box& lane) const;
  Box LaneBox(std::uint32_t row, std::size_t lane) const;
  Rgba Color(const Row& row, const Lane& lane, std::uint32_t event);
  Rgba CategoryColor(Category category);
  void PaintLane(std::uint32_t row, std::uint32_t lane, const Box& box);
  void PaintUnderlay(const Lane& others, const Box& box);
  void PaintEvent(const EventRef& ref, const Box& box);
  std::optional<Box> WaitBox(const EventRef& ref, const Box& box) const;
  void PaintEventText(const EventRef& ref, const Box& box, Rgba color);
  void PaintCounter(std::uint32_t row);
  void PaintCounterValue(const CounterSeries& series, const Box& box);
  void PaintFrame(const std::optional<EventRef>& ref, std::uint32_t row, Rgba color);
  bool IsPale(const EventRef& ref) const;
  // `ref`: the longest event of the summary.
  void AddColumn(const Box& box, const LaneSummary& summary, const EventRef& ref);
  void FlushColumn();

  Painted painted_;
  std::vector<LaneSpan> spans_;
  std::vector<CounterSpan> counter_spans_;
  Column column_;
  bool has_column_ = false;
};

}  // namespace traceinject
