// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/timeline.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/common/units.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/core/paint/paint_timeline.h"
#include "viewer/core/testing/recording_canvas.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

constexpr float kPageHeight = 400;
const float kLabel = Sizes().label, kPageWidth = kLabel + 1000;

class TimelineTest : public testing::Test {
 protected:
  TimelineTest() { timeline_.Resize(kPageWidth, kPageHeight); }

  std::uint32_t RowOf(const std::string& label) const {
    for (std::uint32_t row = 0; row < loaded_->rows.rows.size(); ++row) {
      if (loaded_->rows.rows[row].label == label) return row;
    }
    ADD_FAILURE() << "no row " << label;
    return 0;
  }
  float XOf(TimeNs time) const { return timeline_.Plot().left + timeline_.view().X(time); }
  float YOf(const std::string& label, std::size_t lane = 0) const {
    return timeline_.RowsTop() + timeline_.layout().lane_top_px(RowOf(label), lane) + 5;
  }
  void Click(float x, float y) {
    timeline_.MovePointer(x, y);
    timeline_.Press(PointerButton::kLeft, false);
    timeline_.Release(PointerButton::kLeft);
  }
  void Drag(float x0, float x1, float y) {
    timeline_.MovePointer(x0, y);
    timeline_.Press(PointerButton::kLeft, false);
    timeline_.MovePointer((x0 + x1) / 2, y);
    timeline_.MovePointer(x1, y);
    timeline_.Release(PointerButton::kLeft);
  }
  RecordingCanvas Paint() const {
    RecordingCanvas canvas;
    PaintTimeline(timeline_, canvas);
    EXPECT_EQ(canvas.clips_open, 0);
    return canvas;
  }
  Box RowBox(const std::string& label) const {
    const std::uint32_t row = RowOf(label);
    return {0, timeline_.RowsTop() + timeline_.layout().top_px(row), kPageWidth,
            timeline_.RowsTop() + timeline_.layout().bottom_px(row)};
  }

  std::unique_ptr<const LoadedRun> loaded_ = LoadSampleRun();
  Timeline timeline_{loaded_->run, loaded_->rows, &loaded_->links};
};

TEST_F(TimelineTest, ClickSelectsWhatIsUnderThePointerAndEscapeDropsIt) {
  Click(XOf(1'025 * kUs), YOf("stream 7"));
  ASSERT_TRUE(timeline_.selection().has_value());
  EXPECT_EQ(EventTimes(loaded_->run, loaded_->rows, *timeline_.selection()).first, kMs);
  timeline_.Do(CommandId::kClear);
  EXPECT_FALSE(timeline_.selection().has_value());
  Click(XOf(1'025 * kUs), YOf("stream 7"));
  Click(XOf(4'500 * kUs), YOf("stream 7"));
  EXPECT_FALSE(timeline_.selection().has_value()) << "a click on nothing selects nothing";
}

TEST_F(TimelineTest, TheOverlappingKernelIsFoundInItsSubLane) {
  Click(XOf(1'280 * kUs), YOf("stream 7", 1));
  ASSERT_TRUE(timeline_.selection().has_value());
  EXPECT_EQ(timeline_.selection()->lane, 1U);
  EXPECT_EQ(EventTimes(loaded_->run, loaded_->rows, *timeline_.selection()).first, 1'240 * kUs);
}

TEST_F(TimelineTest, EveryKernelCanBeHitAtEveryZoom) {
  const Lane& lane = loaded_->rows.rows[RowOf("stream 13")].lanes[0];
  for (int zoom = 0; zoom < 30; ++zoom) {
    for (std::uint32_t event = 0; event < lane.size(); ++event) {
      const float x = XOf(lane.start(event) + (lane.end(event) - lane.start(event)) / 2);
      if (x < kLabel || x >= kPageWidth) continue;
      const auto hit = timeline_.EventAt(x, YOf("stream 13"));
      ASSERT_TRUE(hit.has_value()) << "zoom " << zoom;
      EXPECT_EQ(hit->event, event) << "zoom " << zoom;
    }
    timeline_.MovePointer(XOf(1'700 * kUs), YOf("stream 13"));
    timeline_.Do(CommandId::kZoomIn);
  }
}

TEST_F(TimelineTest, FitShowsTheSelectionAndBackReturns) {
  Click(XOf(1'025 * kUs), YOf("stream 7"));
  const TimeNs start = timeline_.view().start_ns(), end = timeline_.view().end_ns();
  timeline_.Do(CommandId::kFitSelection);
  EXPECT_EQ(timeline_.view().start_ns(), 950 * kUs);
  EXPECT_EQ(timeline_.view().end_ns(), 1'100 * kUs);
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(timeline_.view().start_ns(), start);
  EXPECT_EQ(timeline_.view().end_ns(), end);
  timeline_.Do(CommandId::kFitSelection);
  timeline_.Do(CommandId::kShowAll);
  EXPECT_EQ(timeline_.view().start_ns(), start);
}

TEST_F(TimelineTest, DragMeasuresAndSnapsToEdges) {
  const float y = YOf("stream 7");
  Drag(XOf(kMs) - 2, XOf(1'150 * kUs) + 2, y);
  ASSERT_TRUE(timeline_.measure().has_value());
  EXPECT_EQ(timeline_.measure()->start, kMs);
  EXPECT_EQ(timeline_.measure()->end, 1'150 * kUs);
  EXPECT_EQ(timeline_.measure()->row, RowOf("stream 7"));
  EXPECT_FALSE(timeline_.selection().has_value()) << "a drag is no click";
  const RecordingCanvas canvas = Paint();
  EXPECT_TRUE(canvas.HasText("150.0 us"));
  timeline_.Do(CommandId::kFitSelection);
  EXPECT_EQ(timeline_.view().start_ns(), 850 * kUs);
  timeline_.Do(CommandId::kClear);
  EXPECT_FALSE(timeline_.measure().has_value());
}

TEST_F(TimelineTest, DraggingBackwardsMeasuresTheSame) {
  Drag(XOf(1'150 * kUs), XOf(kMs), YOf("stream 7"));
  ASSERT_TRUE(timeline_.measure().has_value());
  EXPECT_EQ(timeline_.measure()->start, kMs);
  EXPECT_EQ(timeline_.measure()->end, 1'150 * kUs);
}

TEST_F(TimelineTest, WheelZoomsAtThePointerPansAndScrolls) {
  const float x = XOf(2 * kMs);
  timeline_.MovePointer(x, 100);
  const TimeNs span = timeline_.view().span_ns();
  timeline_.Turn({.steps = 3, .control = true});
  EXPECT_LT(timeline_.view().span_ns(), span * 6 / 10);
  EXPECT_NEAR(XOf(2 * kMs), x, 0.1);
  const TimeNs start = timeline_.view().start_ns();
  timeline_.Turn({.steps = -1, .shift = true});
  EXPECT_GT(timeline_.view().start_ns(), start);
  EXPECT_EQ(timeline_.scroll_px(), 0);
  timeline_.Resize(kPageWidth, 80);
  timeline_.Turn({.steps = -1});
  EXPECT_GT(timeline_.scroll_px(), 0);
  timeline_.Turn({.steps = -1000});
  EXPECT_EQ(timeline_.scroll_px(), timeline_.layout().height_px() - timeline_.Plot().height());
}

TEST_F(TimelineTest, RightDragMovesTheView) {
  timeline_.Show(kMs, 2 * kMs);
  timeline_.MovePointer(800, 100);
  timeline_.Press(PointerButton::kRight, false);
  timeline_.MovePointer(700, 100);
  timeline_.Release(PointerButton::kRight);
  EXPECT_EQ(timeline_.view().start_ns(), 1'100 * kUs);
  timeline_.MovePointer(600, 100);
  EXPECT_EQ(timeline_.view().start_ns(), 1'100 * kUs);
}

TEST_F(TimelineTest, KeysStepThroughTheLaneAndFollowLaunches) {
  Click(XOf(1'025 * kUs), YOf("stream 7"));
  const EventRef first = *timeline_.selection();
  timeline_.Do(CommandId::kNextEvent);
  EXPECT_EQ(timeline_.selection()->event, first.event + 1);
  timeline_.Do(CommandId::kPreviousEvent);
  timeline_.Do(CommandId::kPreviousEvent);
  EXPECT_EQ(timeline_.selection()->event, 0U);
  timeline_.Do(CommandId::kFollowLinkBack);
  EXPECT_EQ(timeline_.selection()->row, RowOf("thread 4242: CUDA calls"));
  timeline_.Do(CommandId::kFollowLink);
  EXPECT_EQ(timeline_.selection()->row, RowOf("stream 7"));
}

TEST_F(TimelineTest, WhatIsRevealedComesOnScreen) {
  timeline_.Resize(kPageWidth, 80);
  timeline_.Show(4 * kMs, 4'100 * kUs);
  const EventRef call{RowOf("thread 4242: CUDA calls"), 0, 0};
  timeline_.Reveal(call);
  const TimeNs start = loaded_->rows.lane(call).start(0);
  EXPECT_GE(start, timeline_.view().start_ns());
  EXPECT_LT(start, timeline_.view().end_ns());
  EXPECT_EQ(timeline_.view().span_ns(), 100 * kUs);
  EXPECT_GE(YOf("thread 4242: CUDA calls"), Sizes().ruler);
  EXPECT_LE(RowBox("thread 4242: CUDA calls").bottom, 80.5F);
}

TEST_F(TimelineTest, TheGpuRowIsPaintedByCategory) {
  timeline_.Show(950 * kUs, 3'100 * kUs);
  const RecordingCanvas canvas = Paint();
  const Box gpu = RowBox("GPU 0");
  const auto width = [&](Category category) {
    float sum = 0;
    for (const auto& shape : canvas.WithColor(FillColor(category), gpu)) {
      sum += shape.box.width();
    }
    return sum / timeline_.Plot().width() * 2'150;
  };
  // In us; each box leaves one pixel (2.15 us) free.
  EXPECT_NEAR(width(Category::kCompute), 990, 60);
  EXPECT_NEAR(width(Category::kCommunication), 200, 20);
}

TEST_F(TimelineTest, TextStaysInsideItsBox) {
  for (const TimeNs span : {4 * kMs, kMs, 200 * kUs, 60 * kUs}) {
    timeline_.Show(kMs, kMs + span);
    const RecordingCanvas canvas = Paint();
    for (std::size_t i = 1; i < canvas.shapes.size(); ++i) {
      const auto &text = canvas.shapes[i], &box = canvas.shapes[i - 1];
      const bool label = text.text.starts_with("ns::") || text.text.starts_with("sgemm") ||
                         text.text.starts_with("layer");
      if (!label) continue;
      EXPECT_GE(text.box.left, box.box.left) << text.text;
      EXPECT_LE(text.box.right, box.box.right) << text.text;
    }
  }
  EXPECT_TRUE(Paint().HasText("ns::sgemm_kernel")) << "50 us in 60 us on 1000 px has room for it";
}

TEST_F(TimelineTest, TheWholeRunStillShowsEveryKernelAsAPixel) {
  timeline_.Resize(330, kPageHeight);  // half of them for 4 ms
  const RecordingCanvas canvas = Paint();
  float painted = 0;
  for (const Ink ink : {InkOf(KernelClass::kGemm), InkOf(KernelClass::kNorm)}) {
    for (const auto& shape : canvas.WithColor(FillColor(ink), RowBox("stream 7"))) {
      EXPECT_GE(shape.box.width(), 1);
      EXPECT_GE(shape.box.height(), 2);
      painted += shape.box.width();
    }
  }
  EXPECT_GE(painted, 13) << "the kernels take 2 of 4.4 ms";
}

TEST_F(TimelineTest, SelectionIsOutlinedAndGapsAreNamed) {
  Click(XOf(1'025 * kUs), YOf("stream 7"));
  timeline_.Do(CommandId::kFitSelection);
  EXPECT_EQ(Paint().outlines.size(), 1U);
  timeline_.Do(CommandId::kShowAll);
  EXPECT_TRUE(Paint().HasText("not recorded: max_size"));
}

TEST_F(TimelineTest, ARevealedRangeIsMeasuredAndCanBeLeft) {
  const TimeNs before = timeline_.view().span_ns();
  timeline_.RevealRange({1'500 * kUs, 1'520 * kUs, 3});
  ASSERT_TRUE(timeline_.measure().has_value());
  EXPECT_EQ(timeline_.measure()->start, 1'500 * kUs);
  EXPECT_EQ(timeline_.measure()->row, 3U);
  EXPECT_EQ(timeline_.view().start_ns(), 1'480 * kUs);
  EXPECT_EQ(timeline_.view().end_ns(), 1'540 * kUs);
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(timeline_.view().span_ns(), before);
}

// Two ranks, of which the second one is far below.
class TwoRanksTest : public testing::Test {
 protected:
  std::uint32_t RowOf(RowKind kind, std::uint32_t rank) const {
    for (std::uint32_t row = 0; row < loaded_->rows.rows.size(); ++row) {
      if (loaded_->rows.rows[row].kind == kind && loaded_->rows.rows[row].rank == rank) return row;
    }
    ADD_FAILURE() << "no such row";
    return 0;
  }
  float Bottom(std::uint32_t row) const {
    return timeline_.RowTop(row) + timeline_.layout().bottom_px(row) -
           timeline_.layout().top_px(row);
  }

  std::unique_ptr<const LoadedRun> loaded_ = LoadRunOfTwoRanks();
  Timeline timeline_{loaded_->run, loaded_->rows, &loaded_->links};
};

TEST_F(TwoRanksTest, ARevealedRangeComesWithTheRowsOfItsGpu) {
  timeline_.Resize(kPageWidth, 260);
  const std::uint32_t gpu = RowOf(RowKind::kDevice, 1), stream = RowOf(RowKind::kStream, 1);
  ASSERT_GT(timeline_.RowTop(gpu), 200) << "it is not in sight, or at the very bottom";
  timeline_.RevealRange({2 * kMs, 8 * kMs, gpu});
  EXPECT_GE(timeline_.RowTop(gpu), Sizes().ruler);
  EXPECT_LE(Bottom(stream), 260) << "its streams as well";
  EXPECT_GE(timeline_.RowTop(RowOf(RowKind::kRank, 1)), Sizes().ruler) << "and whose it is";
  const float scrolled = timeline_.scroll_px();
  timeline_.RevealRange({2 * kMs, 8 * kMs, gpu});
  EXPECT_EQ(timeline_.scroll_px(), scrolled) << "what is in sight stays where it is";
}

TEST_F(TwoRanksTest, ARevealedThreadIsNotTheLastRow) {
  timeline_.Resize(kPageWidth, 200);
  const std::uint32_t calls = RowOf(RowKind::kCollectives, 0);
  timeline_.RevealRange({1 * kMs, 2 * kMs, calls});
  EXPECT_GE(timeline_.RowTop(calls), Sizes().ruler);
  EXPECT_LE(Bottom(calls), 200 - Sizes().lane);
}

TEST_F(TwoRanksTest, AMeasuredRangeLiesOnTheRowsOfItsRank) {
  timeline_.Resize(kPageWidth, 900);
  const std::uint32_t gpu = RowOf(RowKind::kDevice, 1);
  timeline_.SetMeasure(Measure{2 * kMs, 8 * kMs, gpu});
  RecordingCanvas canvas;
  PaintTimeline(timeline_, canvas);
  std::vector<Box> bands;
  for (const auto& shape : canvas.shapes) {
    if (shape.color == DarkTheme().measure_fill) bands.push_back(shape.box);
  }
  ASSERT_EQ(bands.size(), 1U);
  EXPECT_EQ(bands[0].top, timeline_.RowTop(RowOf(RowKind::kRank, 1)));
  EXPECT_GE(bands[0].bottom, Bottom(RowOf(RowKind::kCollectives, 1)));
  const float edge = timeline_.Plot().left + timeline_.view().X(8 * kMs);
  timeline_.MovePointer(edge, timeline_.RowTop(gpu) + 5);
  EXPECT_TRUE(timeline_.OverMeasureEdge());
  timeline_.MovePointer(edge, timeline_.RowTop(RowOf(RowKind::kDevice, 0)) + 5);
  EXPECT_FALSE(timeline_.OverMeasureEdge()) << "where no edge is painted none is taken hold of";
}

TEST_F(TimelineTest, RowsWithoutEventsGiveWayToALine) {
  const auto shows = [&](const std::string& label) {
    return timeline_.layout().Shows(RowOf(label));
  };
  EXPECT_FALSE(shows("streams without events"));
  timeline_.Show(3'200 * kUs, 3'300 * kUs);
  EXPECT_FALSE(shows("stream 7"));
  EXPECT_TRUE(shows("streams without events"));
  EXPECT_TRUE(Paint().HasText("2 streams without events in sight"));
  timeline_.Do(CommandId::kQuietRows);
  EXPECT_TRUE(shows("stream 7"));
  timeline_.Do(CommandId::kQuietRows);
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_TRUE(shows("stream 7"));
  EXPECT_FALSE(shows("streams without events"));
}

TEST_F(TimelineTest, TheRowAtThePointerStaysWhereItIsWhenOthersCome) {
  timeline_.Resize(kPageWidth, 160);
  timeline_.Show(3'200 * kUs, 3'300 * kUs);
  timeline_.Turn({.steps = -100});
  const std::string row = "thread 4242: NVTX";
  const float before = YOf(row);
  timeline_.MovePointer(XOf(3'250 * kUs), before);
  for (int i = 0; i < 20; ++i) timeline_.Do(CommandId::kZoomOut);
  ASSERT_TRUE(timeline_.layout().Shows(RowOf("stream 7")));
  EXPECT_EQ(YOf(row), before);
}

TEST_F(TimelineTest, WhatIsRevealedOrSelectedIsNotFoldedAway) {
  const std::uint32_t calls = RowOf("thread 4242: CUDA calls");
  timeline_.RevealRange({4'200 * kUs, 4'300 * kUs, calls});
  EXPECT_TRUE(timeline_.layout().Shows(calls)) << "it has no event there";
  timeline_.SetMeasure(std::nullopt);
  timeline_.Reveal({RowOf("stream 13"), 0, 0});
  EXPECT_TRUE(timeline_.layout().Shows(RowOf("stream 13")));
}

TEST_F(TimelineTest, SmallStepsFromOutsideAreTakenBackTogether) {
  const TimeNs before = timeline_.view().span_ns();
  for (int i = 0; i < 5; ++i) timeline_.StepTo(kMs + i * kUs, 2 * kMs + i * kUs);
  EXPECT_EQ(timeline_.view().start_ns(), kMs + 4 * kUs);
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(timeline_.view().span_ns(), before);
}

TEST_F(TimelineTest, CommandsOfOthersAreLeftAlone) {
  EXPECT_TRUE(timeline_.Do(CommandId::kZoomIn));
  EXPECT_FALSE(timeline_.Do(CommandId::kHelp));
  EXPECT_FALSE(timeline_.Do(CommandId::kMark));
}

TEST_F(TimelineTest, StepsAreTakenBackTogether) {
  const TimeNs all = timeline_.view().span_ns();
  timeline_.MovePointer(XOf(2 * kMs), 100);
  for (int i = 0; i < 5; ++i) timeline_.Turn({.steps = 1, .control = true});
  for (int i = 0; i < 5; ++i) timeline_.Do(CommandId::kPanRight);
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(timeline_.view().span_ns(), all);
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(timeline_.view().span_ns(), all) << "nothing left to take back";
}

TEST_F(TimelineTest, ARunThatIsReadAgainCanStillGoBack) {
  const TimeNs all = timeline_.view().span_ns();
  timeline_.Show(2 * kMs, 3 * kMs);
  timeline_.Do(CommandId::kZoomIn);
  Timeline again(loaded_->run, loaded_->rows, &loaded_->links);
  again.ContinueFrom(timeline_);
  again.Do(CommandId::kPreviousView);
  EXPECT_EQ(again.view().start_ns(), 2 * kMs);
  EXPECT_EQ(again.view().end_ns(), 3 * kMs);
  again.Do(CommandId::kPreviousView);
  EXPECT_EQ(again.view().span_ns(), all);
}

TEST_F(TimelineTest, ARunThatIsReadAgainDoesNotDisturbADrag) {
  timeline_.MovePointer(XOf(kMs), YOf("stream 7"));
  timeline_.Press(PointerButton::kLeft, false);
  Timeline again(loaded_->run, loaded_->rows, &loaded_->links);
  again.ContinueFrom(timeline_);
  again.MovePointer(XOf(1'150 * kUs), YOf("stream 7"));
  again.Release(PointerButton::kLeft);
  ASSERT_TRUE(again.measure().has_value());
  EXPECT_EQ(again.measure()->start, kMs);
  EXPECT_EQ(again.measure()->end, 1'150 * kUs);
  EXPECT_EQ(again.measure()->row, RowOf("stream 7"));
}

TEST_F(TimelineTest, BackAlsoScrollsBack) {
  timeline_.Resize(kPageWidth, 80);
  timeline_.Reveal({RowOf("thread 4242: CUDA calls"), 0, 0});
  EXPECT_GT(timeline_.scroll_px(), 0);
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(timeline_.scroll_px(), 0);
}

// For any sequence of zooms, each at its own place, the time under the pointer stays.
TEST_F(TimelineTest, ZoomingKeepsTheTimeUnderThePointer) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    timeline_.Do(CommandId::kShowAll);
    for (int step = 0; step < 25; ++step) {
      const float x = std::uniform_real_distribution<float>(kLabel, kPageWidth - 1)(random);
      timeline_.MovePointer(x, 100);
      const TimeNs before = timeline_.view().TimeAt(x - kLabel);
      const bool wheel = random() % 2 == 0;
      // In, or out as long as the ends of the run are far.
      const bool in = random() % 3 != 0 || timeline_.view().span_ns() > kMs / 2;
      if (wheel) {
        timeline_.Turn({.steps = in ? 1.5F : -1.5F, .control = true});
      } else {
        timeline_.Do(in ? CommandId::kZoomIn : CommandId::kZoomOut);
      }
      if (timeline_.view().span_ns() == TimelineView::kMinSpanNs) break;
      const auto moved = static_cast<double>(timeline_.view().TimeAt(x - kLabel) - before);
      ASSERT_NEAR(moved, 0, timeline_.view().ns_per_px() / 4 + 2) << "round " << round;
    }
  }
}

TEST_F(TimelineTest, AltMeasuresWithoutSnapping) {
  timeline_.Show(900 * kUs, 2 * kMs);
  const float y = YOf("stream 7"), from = XOf(kMs) - 4, to = XOf(1'150 * kUs) + 4;
  const Modifiers alt{.alt = true};
  timeline_.MovePointer(from, y, alt);
  timeline_.Press(PointerButton::kLeft, false, alt);
  timeline_.MovePointer(to, y, alt);
  timeline_.Release(PointerButton::kLeft);
  ASSERT_TRUE(timeline_.measure().has_value());
  EXPECT_EQ(timeline_.measure()->start, timeline_.view().TimeAt(from - kLabel));
  EXPECT_EQ(timeline_.measure()->end, timeline_.view().TimeAt(to - kLabel));
  EXPECT_NE(timeline_.measure()->start, kMs);
}

TEST_F(TimelineTest, EdgesOfTheMeasuredRangeCanBeDragged) {
  timeline_.Show(900 * kUs, 2 * kMs);
  const float y = YOf("stream 7");
  Drag(XOf(kMs), XOf(1'150 * kUs), y);
  timeline_.MovePointer(XOf(1'150 * kUs) + 2, y + 60);
  EXPECT_TRUE(timeline_.OverMeasureEdge());
  Drag(XOf(1'150 * kUs) + 2, XOf(1'450 * kUs), y);
  EXPECT_EQ(timeline_.measure()->start, kMs);
  EXPECT_EQ(timeline_.measure()->end, 1'450 * kUs);
  Drag(XOf(kMs) - 2, XOf(1'600 * kUs), y);
  EXPECT_EQ(timeline_.measure()->start, 1'450 * kUs) << "the edges may cross";
  EXPECT_EQ(timeline_.measure()->end, 1'600 * kUs);
  EXPECT_EQ(timeline_.measure()->row, RowOf("stream 7"));
  timeline_.MovePointer(XOf(1'500 * kUs), y);
  EXPECT_FALSE(timeline_.OverMeasureEdge());
}

TEST_F(TimelineTest, MiddleDragZoomsToTheRangeAndBackReturns) {
  const TimeNs all = timeline_.view().span_ns();
  const float from = XOf(2 * kMs), to = XOf(kMs);  // backwards is the same
  const TimeNs start = timeline_.view().TimeAt(to - kLabel);
  timeline_.MovePointer(from, 100);
  timeline_.Press(PointerButton::kMiddle, false);
  const auto dimmed = [this] {
    std::vector<Box> boxes;
    for (const auto& shape : Paint().shapes) {
      if (shape.color == DarkTheme().not_shown) boxes.push_back(shape.box);
    }
    return boxes;
  };
  EXPECT_TRUE(dimmed().empty());
  timeline_.MovePointer(to, 100);
  const std::vector<Box> beside = dimmed();
  ASSERT_EQ(beside.size(), 2U) << "what will be left out is dimmed";
  EXPECT_NEAR(beside[0].right, to, 1);
  EXPECT_NEAR(beside[1].left, from, 1);
  EXPECT_TRUE(
      Paint().HasText(FormatTime(timeline_.zoom_range()->second - timeline_.zoom_range()->first)));
  timeline_.Release(PointerButton::kMiddle);
  EXPECT_TRUE(dimmed().empty());
  EXPECT_EQ(timeline_.view().start_ns(), start);
  EXPECT_NEAR(static_cast<double>(timeline_.view().span_ns()), 1e6, 5e3);
  EXPECT_FALSE(timeline_.measure().has_value());
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(timeline_.view().span_ns(), all);
}

TEST_F(TimelineTest, ShiftDragMovesTheView) {
  timeline_.Show(kMs, 2 * kMs);
  timeline_.MovePointer(800, 100);
  timeline_.Press(PointerButton::kLeft, false, {.shift = true});
  timeline_.MovePointer(700, 100, {.shift = true});
  timeline_.Release(PointerButton::kLeft);
  EXPECT_EQ(timeline_.view().start_ns(), 1'100 * kUs);
  EXPECT_FALSE(timeline_.measure().has_value());
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(timeline_.view().start_ns(), kMs);
}

TEST_F(TimelineTest, AnotherButtonDoesNotDisturbADrag) {
  timeline_.MovePointer(XOf(kMs), YOf("stream 7"));
  timeline_.Press(PointerButton::kLeft, false);
  timeline_.MovePointer(XOf(2 * kMs), YOf("stream 7"));
  timeline_.Press(PointerButton::kRight, false);
  timeline_.Release(PointerButton::kRight);
  timeline_.MovePointer(XOf(2'050 * kUs), YOf("stream 7"));
  timeline_.Release(PointerButton::kLeft);
  EXPECT_EQ(timeline_.measure()->end, 2'050 * kUs);
}

TEST_F(TimelineTest, TheSelectionBecomesTheRange) {
  timeline_.Do(CommandId::kMeasureSelection);
  EXPECT_FALSE(timeline_.measure().has_value());
  Click(XOf(1'025 * kUs), YOf("stream 7"));
  timeline_.Do(CommandId::kMeasureSelection);
  ASSERT_TRUE(timeline_.measure().has_value());
  EXPECT_EQ(timeline_.measure()->start, kMs);
  EXPECT_EQ(timeline_.measure()->end, 1'050 * kUs);
  EXPECT_EQ(timeline_.measure()->row, RowOf("stream 7"));
}

TEST_F(TimelineTest, OverlappingKernelsAreAllClickable) {
  // Kernel 3 begins 60 us early and lies under kernel 2.
  const std::uint32_t row = RowOf("stream 7");
  std::size_t events = 0;
  for (std::uint32_t lane = 0; lane < loaded_->rows.rows[row].lanes.size(); ++lane) {
    const Lane& of_row = loaded_->rows.rows[row].lanes[lane];
    for (std::uint32_t event = 0; event < of_row.size(); ++event, ++events) {
      Click(XOf((of_row.start(event) + of_row.end(event)) / 2), YOf("stream 7", lane));
      EXPECT_EQ(timeline_.selection(), (EventRef{row, lane, event}));
    }
  }
  EXPECT_EQ(events, 20U);
  EXPECT_EQ(loaded_->rows.rows[row].lanes.size(), 2U);
}

}  // namespace
}  // namespace traceinject
