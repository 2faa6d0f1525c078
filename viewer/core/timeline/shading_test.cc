// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/shading.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/core/paint/paint_shading.h"
#include "viewer/core/testing/recording_canvas.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

TEST(ShadingTest, LengthBeforeAMoment) {
  const Shading shading("dataloader", {"GPU 0", {{10, 20}, {30, 40}}});
  EXPECT_EQ(shading.Before(5), 0);
  EXPECT_EQ(shading.Before(10), 0);
  EXPECT_EQ(shading.Before(15), 5);
  EXPECT_EQ(shading.Before(25), 10);
  EXPECT_EQ(shading.Before(30), 10);
  EXPECT_EQ(shading.Before(31), 11);
  EXPECT_EQ(shading.Before(50), 20);
  EXPECT_EQ(shading.length_ns(), 20);
}

TEST(ShadingTest, NothingIsAskedForWithoutALabel) {
  const std::atomic<bool> cancelled = false;
  const auto shading = ShadingOf({}, cancelled);
  ASSERT_TRUE(shading);
  EXPECT_TRUE(shading->times().empty());
  EXPECT_EQ(shading->Before(100), 0);
}

class PaintShadingTest : public testing::Test {
 protected:
  // The boxes in a view of the run, from its first moment on.
  std::vector<RecordingCanvas::Shape> Paint(const Intervals& times) {
    Timeline timeline(loaded_->run, loaded_->rows);
    timeline.Resize(Sizes().label + 1000, 400);
    view_ = timeline.view();
    left_ = timeline.Plot().left;
    Intervals shifted;
    for (const Interval& time : times)
      shifted.push_back({view_.start_ns() + time.start, view_.start_ns() + time.end});
    RecordingCanvas canvas;
    PaintShading(timeline, Shading("dataloader", {"GPU 0", shifted}), canvas);
    return canvas.shapes;
  }

  const std::unique_ptr<const LoadedRun> loaded_ = LoadSampleRun();
  TimelineView view_;
  float left_ = 0;
};

TEST_F(PaintShadingTest, ARangeIsOneBox) {
  const auto shapes = Paint({{1'000'000, 2'000'000}});
  ASSERT_GE(shapes.size(), 1u);
  EXPECT_LE(shapes.size(), 3u);  // columns at the edges may be paler
  EXPECT_NEAR(shapes.front().box.left, left_ + view_.X(view_.start_ns() + 1'000'000), 1);
  EXPECT_NEAR(shapes.back().box.right, left_ + view_.X(view_.start_ns() + 2'000'000), 1);
}

// Half of the time of each column: one paler box, not 1000.
TEST_F(PaintShadingTest, ManyShortPiecesShowTheirShare) {
  Intervals halves;
  for (TimeNs at = 1'000'000; at < 2'000'000; at += 500) halves.push_back({at, at + 250});
  const auto whole = Paint({{1'000'000, 2'000'000}}), half = Paint(halves);
  const auto alpha = [](const std::vector<RecordingCanvas::Shape>& shapes) {
    unsigned most = 0;
    for (const auto& shape : shapes) most = std::max(most, shape.color & 0xffU);
    return most;
  };
  ASSERT_GE(half.size(), 1u);
  EXPECT_LE(half.size(), 3u);
  EXPECT_EQ(alpha(half), alpha(whole) / 2);
}

TEST_F(PaintShadingTest, OnlyTheRowsOfItsRankAreShaded) {
  const std::unique_ptr<const LoadedRun> loaded = LoadRunOfTwoRanks();
  Timeline timeline(loaded->run, loaded->rows);
  timeline.Resize(Sizes().label + 1000, 900);
  RecordingCanvas canvas;
  PaintShading(timeline,
               Shading("comm_exposed", {"rank 0 GPU 0", {{2'000'000, 3'000'000}}}, {0, 0}), canvas);
  ASSERT_FALSE(canvas.shapes.empty());
  for (const auto& shape : canvas.shapes) {
    EXPECT_EQ(shape.box.top, timeline.Plot().top);
    EXPECT_LT(shape.box.bottom, timeline.Plot().bottom);
    const std::uint32_t below = timeline.RowAt(shape.box.bottom + 1);
    ASSERT_NE(below, kNone);
    EXPECT_EQ(loaded->rows.rows[below].kind, RowKind::kRank) << "up to the next rank";
  }
}

TEST_F(PaintShadingTest, NothingOutsideOfTheView) {
  EXPECT_TRUE(Paint({{9'000'000, 9'500'000}}).empty());
}

}  // namespace
}  // namespace traceinject
