// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/row_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

const Sizes kSizes;

class RowLayoutTest : public testing::Test {
 protected:
  std::uint32_t RowOf(const std::string& label) const {
    for (std::uint32_t row = 0; row < model_.rows.size(); ++row) {
      if (model_.rows[row].label == label) return row;
    }
    ADD_FAILURE() << "no row " << label;
    return 0;
  }
  RowLayout Layout() const { return {model_, list_, kSizes}; }

  std::unique_ptr<const LoadedRun> loaded_ = LoadSampleRun();
  const RowModel& model_ = loaded_->rows;
  RowList list_{model_};
};

TEST_F(RowLayoutTest, EveryPixelOfALaneFindsIt) {
  list_.TogglePinned(RowOf("stream 13"));
  const RowLayout layout = Layout();
  for (std::size_t row = 0; row < model_.rows.size(); ++row) {
    for (std::size_t lane = 0; lane < model_.rows[row].lanes.size(); ++lane) {
      for (const float inside : {0.0F, 0.5F, 0.99F}) {
        const float y = layout.lane_top_px(row, lane) + inside * layout.lane_px(row);
        EXPECT_EQ(layout.At(y, model_), std::make_pair(row, lane)) << y;
        EXPECT_EQ(layout.RowAt(y), row);
      }
    }
  }
  const std::size_t none = model_.rows.size();
  EXPECT_EQ(layout.At(-1, model_).first, none);
  EXPECT_EQ(layout.At(layout.height_px(), model_).first, none);
}

TEST_F(RowLayoutTest, RowsBetweenAreThoseThatShow) {
  list_.TogglePinned(RowOf("idle"));
  list_.Hide(RowOf("stream 7"));
  const RowLayout layout = Layout();
  for (float top = 0; top < layout.height_px(); top += 7) {
    const auto between = layout.RowsBetween(top, top + 40);
    for (const std::uint32_t row : list_.scrolled()) {
      const bool shows = layout.bottom_px(row) > top && layout.top_px(row) < top + 40;
      EXPECT_EQ(std::count(between.begin(), between.end(), row), shows ? 1 : 0)
          << "row " << row << " at " << top;
    }
  }
}

TEST_F(RowLayoutTest, PinnedRowsComeFirst) {
  list_.TogglePinned(RowOf("stream 13"));
  list_.TogglePinned(RowOf("idle"));
  const RowLayout layout = Layout();
  ASSERT_EQ(layout.PinnedRows().size(), 2U);
  EXPECT_EQ(layout.top_px(RowOf("stream 13")), 0);
  EXPECT_EQ(layout.bottom_px(RowOf("idle")), layout.pinned_px());
  EXPECT_EQ(layout.top_px(RowOf("rank 0 on node-a")), layout.pinned_px());
  EXPECT_TRUE(layout.IsPinned(RowOf("idle")));
  EXPECT_FALSE(layout.IsPinned(RowOf("stream 7")));
}

TEST_F(RowLayoutTest, ACollapsedGroupStandsWhereItsRowsWere) {
  const std::uint32_t rank = RowOf("rank 0 on node-a"), host = RowOf("host");
  const std::uint32_t nvtx = RowOf("thread 4242: NVTX"), gpu = RowOf("GPU 0");
  list_.ToggleCollapsed(host);
  RowLayout layout = Layout();
  EXPECT_FALSE(layout.Shows(nvtx));
  EXPECT_TRUE(layout.Shows(host));
  const float y = layout.lane_top_px(nvtx, 0) + 1;
  EXPECT_EQ(layout.RowAt(y), host);
  EXPECT_EQ(layout.At(y, model_), std::make_pair(std::size_t{nvtx}, std::size_t{0}))
      << "the density of the threads can be pointed at";
  list_.ToggleCollapsed(rank);
  layout = Layout();
  EXPECT_EQ(layout.height_px(), layout.bottom_px(rank));
  EXPECT_EQ(layout.At(layout.lane_top_px(gpu, 0) + 1, model_).first, gpu);
  EXPECT_EQ(layout.top_px(nvtx), layout.top_px(rank));
}

TEST_F(RowLayoutTest, NothingShownHasNoHeight) {
  list_.SetFilter("no such row");
  const RowLayout layout = Layout();
  EXPECT_EQ(layout.height_px(), 0);
  EXPECT_EQ(layout.RowAt(0), kNone);
  EXPECT_TRUE(layout.RowsBetween(0, 100).empty());
  EXPECT_FALSE(layout.Shows(0));
  EXPECT_EQ(layout.top_px(3), 0);
  EXPECT_EQ(layout.bottom_px(3), 0);
}

}  // namespace
}  // namespace traceinject
