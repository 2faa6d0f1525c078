// SPDX-License-Identifier: Apache-2.0
// The timeline as it is on screen: what is visible, under the pointer, selected, measured; and how
// keys and mouse change it. Knows no window system and draws nothing (see paint_timeline.h).
//
// Pixels count from the top left of the panel: a column of labels at the left, a ruler at the top,
// the plot in the rest.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/view/rows/links.h"
#include "analyzer/view/rows/marked_places.h"
#include "analyzer/view/rows/row_layout.h"
#include "analyzer/view/rows/row_list.h"
#include "analyzer/view/rows/row_owner.h"
#include "analyzer/view/rows/rows.h"
#include "analyzer/view/style/canvas.h"
#include "analyzer/view/style/sizes.h"
#include "analyzer/view/style/theme.h"
#include "viewer/core/timeline/commands.h"
#include "viewer/core/timeline/timeline_view.h"

namespace traceinject {

// A stretch of time that the user marked, on the row where that began.
struct Measure {
  TimeNs start = 0, end = 0;  // start <= end
  std::uint32_t row = kNone;  // kNone: beside the rows
  bool operator==(const Measure&) const = default;
};

enum class PointerButton : std::uint8_t { kLeft, kRight, kMiddle };

struct WheelTurn {
  float steps = 0;  // positive: away from the user
  bool control = false, shift = false;
};

class Timeline {
 public:
  // All must outlive the timeline. Without links nothing is linked.
  Timeline(const Run& run, const RowModel& model, const Links* links = nullptr);

  void Resize(float width_px, float height_px, const Sizes& sizes = Sizes());
  // These are jumps: kPreviousView comes back from them.
  void Show(TimeNs start_ns, TimeNs end_ns);
  void Fit(TimeNs start_ns, TimeNs end_ns);
  // One of many small changes: kPreviousView comes back from all of them since the last EndSteps()
  // at once.
  void StepTo(TimeNs start_ns, TimeNs end_ns);
  void EndSteps() { stepping_ = false; }

  // Shows what another timeline of the same recording shows, which was read earlier and less of it:
  // the same time (all of it, if that is what was shown), the same rows, the same event.
  void ContinueFrom(const Timeline& before);

  // False: the command is not about the timeline, and nothing was done.
  bool Do(CommandId command);
  // `held`: Alt measures without snapping.
  void MovePointer(float x, float y, Modifiers held = {});
  void PointerLeft();
  // `twice`: the second press of a double click. With Shift the left button moves the view.
  void Press(PointerButton button, bool twice, Modifiers held = {});
  void Release(PointerButton button);
  // Ends a drag, or a press, that came to nothing: its button is held no more, and was not let go.
  void DropDrag();
  void Turn(const WheelTurn& wheel);
  // Selects and, where it is off the screen, moves the view to it; opens its group.
  void Reveal(const EventRef& ref);
  // Where it is off the screen, the view moves to it; its group is opened.
  void RevealRow(std::uint32_t row) { ScrollToRow(row); }
  // As much of a group as fits, where little of it is on the screen.
  void RevealGroup(std::uint32_t row) { ScrollToGroup(row); }
  // The first one below the ruler, as far as there are rows below it.
  void RevealAtTop(std::uint32_t row);
  // Which rows are shown: `change` does with the list what it likes.
  void ChangeRows(const std::function<void(RowList&)>& change);
  void SetLook(const Look& look) { look_ = look; }
  // Measures a stretch and brings it into view, with some room on both sides; of the rows its own,
  // those of its group below it, and as many as fit of those between it and its rank's heading.
  void RevealRange(const Measure& range);
  void Select(const std::optional<EventRef>& ref);
  // Where rows of code show other places than these, they are paler.
  void MarkPlaces(MarkedPlaces places) { marked_places_ = std::move(places); }
  void SetMeasure(const std::optional<Measure>& measure) { measure_ = measure; }

  const Run& run() const { return run_; }
  const RowModel& model() const { return model_; }
  const TimelineView& view() const { return view_; }
  const RowList& row_list() const { return row_list_; }
  const RowLayout& layout() const { return layout_; }
  const Look& look() const { return look_; }
  float scroll_px() const { return scroll_px_; }
  const Sizes& sizes() const { return sizes_; }
  const std::optional<EventRef>& hover() const { return hover_; }
  const std::optional<EventRef>& selection() const { return selection_; }
  // What they are linked to; empty where there is none.
  const LinkedEvents& hover_links() const { return hover_links_; }
  const LinkedEvents& selection_links() const { return selection_links_; }
  const std::optional<Measure>& measure() const { return measure_; }
  const MarkedPlaces& marked_places() const { return marked_places_; }
  // Whether a press would take hold of an edge of the measured range.
  bool OverMeasureEdge() const { return EdgeAtPointer().has_value(); }
  // The stretch that will be shown when the middle button is let go; empty: it is not held.
  const std::optional<std::pair<TimeNs, TimeNs>>& zoom_range() const { return zoom_range_; }
  float pointer_x() const { return pointer_x_; }
  float pointer_y() const { return pointer_y_; }
  // The time under the pointer, on an event's edge if one is near; empty outside of the plot and
  // the ruler above it.
  std::optional<TimeNs> PointerTime() const;

  Box Panel() const { return {0, 0, width_px_, height_px_}; }
  Box Plot() const { return {label_px(), sizes_.ruler, width_px_, height_px_}; }
  Box Labels() const { return {0, sizes_.ruler, label_px(), height_px_}; }
  // Top of the first row: above the plot when scrolled.
  float RowsTop() const { return sizes_.ruler - scroll_px_; }
  // Where an event is drawn, at least a pixel wide; may lie outside of the plot.
  Box EventBox(const EventRef& ref) const;
  // Top of a row; pinned rows do not scroll.
  float RowTop(std::size_t row) const;
  float LaneTop(std::size_t row, std::size_t lane) const;
  // Where rows of an owner are in sight, across the plot; rows below each other share a box.
  // O(rows in sight).
  std::vector<Box> BoxesOf(const RowOwner& owner) const;
  // Whose rows the measured range lies on.
  RowOwner MeasureOwner() const;
  // The rows in sight below the pinned ones, from the top.
  std::span<const std::uint32_t> ScrolledRows() const;
  // Below the pinned rows.
  float ScrolledTop() const { return sizes_.ruler + layout_.pinned_px(); }
  // The row at a height, beside the plot as well; kNone if there is none.
  std::uint32_t RowAt(float y) const;
  // The row under the pointer; kNone while that is elsewhere.
  std::uint32_t PointerRow() const;
  // Where the triangle of a group's label is.
  Box Triangle(std::uint32_t row) const;

  // The event drawn at a pixel, or a little beside it. O(pixels).
  std::optional<EventRef> EventAt(float x, float y) const;

 private:
  static constexpr double kZoomStep = 1.25;  // a key or a notch of the wheel
  static constexpr double kPanShare = 0.1;   // of the plot, a key or a notch
  static constexpr float kScrollLanes = 3;   // a key or a notch

  enum class Drag : std::uint8_t { kIdle, kPress, kMeasure, kPan, kZoomRange };
  struct Place {
    TimelineView view;
    float scroll_px = 0;
  };

  float label_px() const { return std::min(sizes_.label, width_px_ / 2); }
  void ScrollTo(float scroll_px);
  void ScrollToRow(std::uint32_t row);
  void ScrollToGroup(std::uint32_t row);
  // The bottom of the last row that is shown in a group; of other rows their own.
  float GroupBottom(std::uint32_t row) const;
  // After every change of the time that is shown: rows without events go, others come. The row at
  // the pointer, else the one at the top, stays where it is.
  void FollowSight();
  bool SetSight();
  // All of the row itself, not of a group that stands for it.
  bool IsOnScreen(std::uint32_t row) const;
  void Remember();
  void BeginStep();
  void Back();
  void FitSelection();
  void MeasureSelection();
  void Step(int events);
  void FollowLink();
  void FollowLinkBack();
  void Clear();
  void SetHover(const std::optional<EventRef>& ref);
  void DragTo(float x, float y, Modifiers held);
  // The end of the measured range that is not at the pointer, if the other one is.
  std::optional<TimeNs> EdgeAtPointer() const;
  // The edge of an event within a few pixels, else the time at the pixel.
  TimeNs SnappedTime(float x, float y) const;
  bool InPlot(float x, float y) const;
  // Folds up or opens the group whose triangle or heading is under the pointer, if there is one.
  bool FoldAtPointer();
  // From the panel's pixels to those of the layout.
  float LayoutY(float y) const;
  void Relayout();
  void ChangeRow(CommandId command, std::uint32_t row);

  const Run& run_;
  const RowModel& model_;
  const Links* links_;
  Sizes sizes_;
  TimelineView view_;
  RowList row_list_;
  RowLayout layout_;
  Look look_;
  std::vector<Place> history_;
  bool stepping_ = false;  // zooming or moving in steps, of which only the begin is remembered
  float width_px_ = 1, height_px_ = 1, scroll_px_ = 0;

  float pointer_x_ = -1, pointer_y_ = -1, press_x_ = 0, press_y_ = 0;
  Drag drag_ = Drag::kIdle;
  PointerButton drag_button_ = PointerButton::kLeft;
  TimeNs press_time_ = 0;
  std::uint32_t press_row_ = kNone;
  std::optional<EventRef> hover_, selection_;
  LinkedEvents hover_links_, selection_links_;
  std::optional<Measure> measure_;
  MarkedPlaces marked_places_;
  std::optional<std::pair<TimeNs, TimeNs>> zoom_range_;
};

// The row that the user works on: of the measured range, else of the selected event; kNone: none.
std::uint32_t ChosenRow(const Timeline& timeline);

}  // namespace traceinject
