// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/overview.h"

#include <gtest/gtest.h>

#include "viewer/core/testing/random_run.h"
#include "viewer/core/testing/recording_canvas.h"

namespace traceinject {
namespace {

constexpr float kWidth = 600, kHeight = 50, kLeft = 100;

class OverviewTest : public testing::Test {
 protected:
  OverviewTest() : random_(1), overview_(random_.model) {
    overview_.Resize(kWidth, kHeight, kLeft);
    const TimeNs quarter = (random_.model.end - random_.model.start) / 4;
    shown_ = {random_.model.start + quarter, random_.model.start + 2 * quarter};
  }
  TimeNs ns_per_px() const {
    return static_cast<TimeNs>(static_cast<double>(random_.model.end - random_.model.start) * 1.04 /
                               (kWidth - kLeft));
  }

  RandomRun random_;
  Overview overview_;
  Interval shown_;
};

TEST_F(OverviewTest, LoadIsTheShareOfBusyTime) {
  ASSERT_EQ(overview_.lines(), 2U);
  const auto columns = static_cast<std::size_t>(kWidth - kLeft);
  for (std::size_t line = 0; line < 2; ++line) {
    double busy_ns = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      for (const float share : overview_.Load(line, column)) {
        EXPECT_GE(share, 0);
        busy_ns += static_cast<double>(share) *
                   static_cast<double>(random_.model.end - random_.model.start) * 1.04 /
                   static_cast<double>(columns);
      }
    }
    Intervals operations;
    const GpuOps& ops = random_.run.ranks[line].devices[0].ops;
    for (std::size_t op = 0; op < ops.size(); ++op) {
      operations.push_back({ops.start[op], ops.end[op]});
    }
    const auto expected = static_cast<double>(Length(Merge(operations)));
    EXPECT_NEAR(busy_ns, expected, 0.01 * expected);
  }
}

TEST_F(OverviewTest, DraggingTheBoxMovesIt) {
  const float inside = (overview_.X(shown_.start) + overview_.X(shown_.end)) / 2;
  overview_.Press(inside, shown_);
  EXPECT_TRUE(overview_.dragging());
  EXPECT_FALSE(overview_.Drag(inside + 1)) << "no drag yet";
  const auto moved = overview_.Drag(inside + 50);
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(moved->end - moved->start, shown_.end - shown_.start);
  EXPECT_NEAR(static_cast<double>(moved->start - shown_.start),
              static_cast<double>(50 * ns_per_px()), 60);
  EXPECT_FALSE(overview_.Release(inside + 50)) << "the drag has said it all";
  EXPECT_FALSE(overview_.dragging());
}

TEST_F(OverviewTest, DraggingAnEdgeKeepsTheOther) {
  const float edge = overview_.X(shown_.end);
  EXPECT_TRUE(overview_.OnEdge(edge, shown_));
  EXPECT_FALSE(overview_.OnEdge(edge - 20, shown_));
  overview_.Press(edge, shown_);
  const auto wider = overview_.Drag(edge + 30);
  ASSERT_TRUE(wider.has_value());
  EXPECT_EQ(wider->start, shown_.start);
  EXPECT_GT(wider->end, shown_.end + 25 * ns_per_px());
  const auto turned = overview_.Drag(overview_.X(shown_.start) - 30);
  EXPECT_LT(turned->start, shown_.start);
  EXPECT_EQ(turned->end, shown_.start) << "past the other edge it is that one's turn";
}

TEST_F(OverviewTest, DraggingOutsideTakesThatStretch) {
  overview_.Press(kWidth - 20, shown_);
  const auto taken = overview_.Drag(kWidth - 100);
  ASSERT_TRUE(taken.has_value());
  EXPECT_GT(taken->start, shown_.end);
  EXPECT_NEAR(overview_.X(taken->start), kWidth - 100, 1);
  EXPECT_NEAR(overview_.X(taken->end), kWidth - 20, 1);
}

TEST_F(OverviewTest, AClickCenters) {
  overview_.Press(kWidth - 20, shown_);
  const auto centered = overview_.Release(kWidth - 20);
  ASSERT_TRUE(centered.has_value());
  EXPECT_EQ(centered->end - centered->start, shown_.end - shown_.start);
  EXPECT_NEAR(overview_.X((centered->start + centered->end) / 2), kWidth - 20, 1);
}

TEST_F(OverviewTest, ANarrowBoxCanBeMoved) {
  const Interval narrow{shown_.start, shown_.start + 1};
  const float x = overview_.X(narrow.start);
  EXPECT_FALSE(overview_.OnEdge(x, narrow));
  overview_.Press(x, narrow);
  const auto moved = overview_.Drag(x + 40);
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(moved->end - moved->start, 1);
}

TEST_F(OverviewTest, PaintsInsideItsBoxAndMarksHits) {
  RecordingCanvas plain, marked;
  std::vector<bool> marks(100, false);
  overview_.Paint(shown_, marks, plain);
  marks[50] = true;
  overview_.Paint(shown_, marks, marked);
  ASSERT_EQ(marked.shapes.size(), plain.shapes.size() + 1);
  ASSERT_GT(marked.shapes.size(), 2U);
  const Box mark = marked.shapes.end()[-2].box;  // the label comes last
  EXPECT_NEAR(mark.left, overview_.X((random_.model.start + random_.model.end) / 2), 4);
  for (const RecordingCanvas::Shape& shape : marked.shapes) {
    EXPECT_LE(shape.box.left, shape.box.right);
    EXPECT_LE(shape.box.top, shape.box.bottom);
    EXPECT_GE(shape.box.top, 0);
    EXPECT_LE(shape.box.right, kWidth);
    EXPECT_LE(shape.box.bottom, kHeight);
  }
  ASSERT_EQ(marked.outlines.size(), 1U);
  EXPECT_NEAR(marked.outlines[0].box.left, overview_.X(shown_.start), 1);
  EXPECT_NEAR(marked.outlines[0].box.right, overview_.X(shown_.end), 1);
}

TEST(OverviewOfManyTest, MoreGpusThanLinesShareThem) {
  traceinject::Run run;
  for (int rank = 0; rank < 40; ++rank) {
    RankBuilder builder;
    builder.rank().rank = rank;
    builder.AddKernel(0, 1000, "gemm");
    builder.rank().end = 1000;
    run.ranks.push_back(builder.rank());
  }
  const RowModel model = BuildRows(run);
  Overview overview(model);
  overview.Resize(kWidth, kHeight, kLeft);
  ASSERT_EQ(overview.lines(), Overview::kMaxLines);
  for (std::size_t line = 0; line < overview.lines(); ++line) {
    EXPECT_NEAR(overview.Load(line, 250)[0], 1, 1e-5);
  }
}

}  // namespace
}  // namespace traceinject
