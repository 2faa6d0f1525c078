// SPDX-License-Identifier: Apache-2.0
// The timeline as it is on screen: what is visible, under the pointer, selected, measured; and how
// keys and mouse change it. Knows no window system and draws nothing (see paint_timeline.h).
//
// Pixels count from the top left of the panel: a column of labels at the left, a ruler at the top,
// the plot in the rest.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "viewer/core/canvas.h"
#include "viewer/core/commands.h"
#include "viewer/core/row_layout.h"
#include "viewer/core/row_list.h"
#include "viewer/core/rows.h"
#include "viewer/core/theme.h"
#include "viewer/core/timeline_view.h"

namespace traceinject {

// A stretch of time that the user marked, on the row where that began.
struct Measure {
  TimeNs start = 0, end = 0;  // start <= end
  std::uint32_t row = kNone;  // kNone: beside the rows
  bool operator==(const Measure&) const = default;
};

enum class PointerButton : std::uint8_t { kLeft, kRight };

struct WheelTurn {
  float steps = 0;  // positive: away from the user
  bool control = false, shift = false;
};

class Timeline {
 public:
  static constexpr float kRulerPx = 24;

  // Both must outlive the timeline.
  Timeline(const Run& run, const RowModel& model);

  void Resize(float width_px, float height_px, float label_px, float lane_px);
  void Show(TimeNs start_ns, TimeNs end_ns) { view_.Show(start_ns, end_ns); }
  // kPreviousView comes back to what is shown now.
  void Remember();

  // Shows what another timeline of the same recording shows, which was read earlier and less of it:
  // the same time (all of it, if that is what was shown), the same rows, the same event.
  void ContinueFrom(const Timeline& before);

  void Do(CommandId command);
  void MovePointer(float x, float y);
  void PointerLeft();
  void Press(PointerButton button, bool twice);
  void Release(PointerButton button);
  void Turn(const WheelTurn& wheel);
  // Selects and, where it is off the screen, moves the view to it; opens its group.
  void Reveal(const EventRef& ref);
  // Which rows are shown: `change` does with the list what it likes.
  void ChangeRows(const std::function<void(RowList&)>& change);
  void SetLook(const Look& look) { look_ = look; }
  // Measures a stretch and brings it and its row into view, with some room on both sides.
  void RevealRange(const Measure& range);

  const Run& run() const { return run_; }
  const RowModel& model() const { return model_; }
  const TimelineView& view() const { return view_; }
  const RowList& row_list() const { return row_list_; }
  const RowLayout& layout() const { return layout_; }
  const Look& look() const { return look_; }
  float scroll_px() const { return scroll_px_; }
  const std::optional<EventRef>& hover() const { return hover_; }
  const std::optional<EventRef>& selection() const { return selection_; }
  const std::optional<Measure>& measure() const { return measure_; }
  bool help_shown() const { return help_shown_; }

  Box Panel() const { return {0, 0, width_px_, height_px_}; }
  Box Plot() const { return {label_px_, kRulerPx, width_px_, height_px_}; }
  Box Labels() const { return {0, kRulerPx, label_px_, height_px_}; }
  // Top of the first row: above the plot when scrolled.
  float RowsTop() const { return kRulerPx - scroll_px_; }
  // Top of a row; pinned rows do not scroll.
  float RowTop(std::size_t row) const;
  float LaneTop(std::size_t row, std::size_t lane) const;
  // Below the pinned rows.
  float ScrolledTop() const { return kRulerPx + layout_.pinned_px(); }
  // The row at a height, beside the plot as well; kNone if there is none.
  std::uint32_t RowAt(float y) const;
  // The row and the time under the pointer; empty while that is elsewhere.
  std::uint32_t PointerRow() const;
  std::optional<TimeNs> PointerTime() const;
  // Where the triangle of a group's label is.
  Box Triangle(std::uint32_t row) const;

  // The event drawn at a pixel, or within 3 pixels beside it. O(pixels).
  std::optional<EventRef> EventAt(float x, float y) const;

 private:
  enum class Drag : std::uint8_t { kIdle, kPress, kMeasure, kPan };

  void ScrollTo(float scroll_px);
  void ScrollToRow(std::uint32_t row);
  void Back();
  void FitSelection();
  void Step(int events);
  void Clear();
  // The edge of an event within a few pixels, else the time at the pixel.
  TimeNs SnappedTime(float x, float y) const;
  bool InPlot(float x, float y) const;
  // From the panel's pixels to those of the layout.
  float LayoutY(float y) const;
  void Relayout();
  RowChoices SameChoices(const Timeline& before) const;

  const Run& run_;
  const RowModel& model_;
  TimelineView view_;
  RowList row_list_;
  RowLayout layout_;
  Look look_;
  std::vector<TimelineView> history_;
  float width_px_ = 1, height_px_ = 1, label_px_ = 0, lane_px_ = 0, scroll_px_ = 0;

  float pointer_x_ = -1, pointer_y_ = -1, press_x_ = 0, press_y_ = 0;
  Drag drag_ = Drag::kIdle;
  TimeNs press_time_ = 0;
  std::optional<EventRef> hover_, selection_;
  std::optional<Measure> measure_;
  bool help_shown_ = false;
};

// The row that the user works on: of the measured range, else of the selected event; kNone: none.
std::uint32_t ChosenRow(const Timeline& timeline);

}  // namespace traceinject
