// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/same_event.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/core/testing/sample_run.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {
namespace {

// A recording as it grows: with every stage there are more streams and kernels, and rank 0 stands
// before what was the first row.
std::unique_ptr<const LoadedRun> Grown(const TemporaryFolder& folder, int stage) {
  RunDbFixture file(folder / "run.rank00001.db", {.base_ns = 5'000'000, .rank = 1});
  for (int i = 0; i < 40 * stage; ++i) {
    const TimeNs start = i * 100 * kUs;
    file.AddLaunchedKernel({.start_ns = start, .dur_ns = 50 * kUs, .stream = 9}, start, 5 * kUs);
    if (stage > 1) file.AddKernel({.start_ns = start, .dur_ns = 20 * kUs, .stream = 7});
  }
  file.AddNvtx({.start_ns = kMs, .dur_ns = std::nullopt, .text = "open"});
  file.Close();
  if (stage > 1) {
    RunDbFixture first(folder / "run.rank00000.db", {.base_ns = 3'000'000, .rank = 0});
    first.AddKernel({.start_ns = 0, .dur_ns = 50 * kUs});
    first.Close();
  }
  LoadResult loaded = LoadWithRows({folder / "run.db"}, {});
  if (!loaded.ok()) throw std::runtime_error(loaded.error());
  return std::move(loaded).value();
}

std::uint32_t RowOf(const LoadedRun& loaded, const std::string& label) {
  const auto& rows = loaded.rows.rows;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    if (rows[row].label == label && *loaded.run.ranks[rows[row].rank].rank == 1) return row;
  }
  return kNone;
}

class GrownRun : public testing::Test {
 protected:
  std::optional<EventRef> Again(const EventRef& ref) {
    return SameEvent(before_->run, before_->rows, ref, after_->run, after_->rows);
  }
  TemporaryFolder folder_;
  std::unique_ptr<const LoadedRun> before_ = Grown(folder_, 1), after_ = Grown(folder_, 2);
};

TEST_F(GrownRun, EventsAreFoundWhereverTheyStandNow) {
  const std::uint32_t row = RowOf(*before_, "stream 9");
  const auto same = Again({row, 0, 7});
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->row, RowOf(*after_, "stream 9"));
  EXPECT_NE(same->row, row);
  // The base is that of rank 0 now.
  EXPECT_EQ(after_->rows.lane(*same).start(same->event),
            before_->rows.lane({row, 0, 7}).start(7) + 2'000'000);
}

TEST_F(GrownRun, AnOpenRangeIsTheSameWhenItIsLonger) {
  const auto same = Again({RowOf(*before_, "thread 4242: NVTX"), 0, 0});
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(EventLabel(after_->run, after_->rows, *same), "open");
}

TEST_F(GrownRun, WhatIsGoneIsNotFound) {
  const std::uint32_t row = RowOf(*after_, "stream 7");
  EXPECT_EQ(SameRow(after_->run, after_->rows, row, before_->run, before_->rows), kNone);
  EXPECT_EQ(SameEvent(after_->run, after_->rows, {row, 0, 0}, before_->run, before_->rows),
            std::nullopt);
  const EventRef late{RowOf(*after_, "stream 9"), 0, 79};
  EXPECT_EQ(SameEvent(after_->run, after_->rows, late, before_->run, before_->rows), std::nullopt);
}

TEST_F(GrownRun, TheTimelineGoesOnShowingTheSame) {
  Timeline before(before_->run, before_->rows);
  before.Resize(800, 100);
  before.Reveal({RowOf(*before_, "stream 9"), 0, 7});
  before.Show(kMs, 2 * kMs);
  Timeline after(after_->run, after_->rows);
  after.ContinueFrom(before);
  EXPECT_EQ(after.view().start_ns(), 3 * kMs);
  EXPECT_EQ(after.view().end_ns(), 4 * kMs);
  ASSERT_TRUE(after.selection().has_value());
  EXPECT_EQ(after.selection()->row, RowOf(*after_, "stream 9"));
  // The row stands where it stood.
  EXPECT_EQ(after.RowsTop() + after.layout().top_px(RowOf(*after_, "stream 9")),
            before.RowsTop() + before.layout().top_px(RowOf(*before_, "stream 9")));
}

TEST_F(GrownRun, WhoSeesAllGoesOnSeeingAll) {
  Timeline before(before_->run, before_->rows);
  before.Resize(800, 400);
  Timeline after(after_->run, after_->rows);
  after.ContinueFrom(before);
  EXPECT_LE(after.view().start_ns(), after_->rows.start);
  EXPECT_GE(after.view().end_ns(), after_->rows.end);
}

}  // namespace
}  // namespace traceinject
