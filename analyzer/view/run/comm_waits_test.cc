// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/comm_waits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/model/testing/units.h"
#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/style/legend.h"
#include "viewer/core/paint/paint_timeline.h"
#include "viewer/core/testing/recording_canvas.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

class CommWaitsTest : public testing::Test {
 protected:
  // The event of a rank's collectives that begins at a time.
  EventRef Kernel(std::uint32_t rank, TimeNs start) const {
    for (std::uint32_t row = 0; row < rows().rows.size(); ++row) {
      const Row& one = rows().rows[row];
      if (one.kind != RowKind::kStream || one.rank != rank) continue;
      for (std::uint32_t event = 0; event < one.lanes[0].size(); ++event) {
        if (one.lanes[0].start(event) == start) return {row, 0, event};
      }
    }
    ADD_FAILURE() << "no kernel at " << start;
    return {};
  }
  const RowModel& rows() const { return loaded_->rows; }
  std::unique_ptr<const LoadedRun> loaded_ = LoadRunOfTwoRanks();
};

TEST_F(CommWaitsTest, WhoComesFirstWaitsUntilTheLastHasCome) {
  EXPECT_EQ(rows().waits.TransferStart(0, 0, 11 * kMs), 12 * kMs);
  EXPECT_EQ(rows().waits.TransferStart(1, 0, 12 * kMs), std::nullopt);
  EXPECT_EQ(rows().waits.TransferStart(0, 0, 10 * kMs + kMs / 2), std::nullopt) << "it computes";
  EXPECT_EQ(rows().waits.TransferStart(7, 0, 11 * kMs), std::nullopt);
}

TEST_F(CommWaitsTest, WhoHoldsTheOthersUp) {
  EXPECT_EQ(rows().waits.HeldUp(0), 0);
  EXPECT_NEAR(static_cast<double>(rows().waits.HeldUp(1)), 50e6, 1e6) << "a ms in each of 50";
  EXPECT_NE(rows().rows[Kernel(1, 12 * kMs).row].kind, RowKind::kRank);
  const auto heading = std::find_if(rows().rows.begin(), rows().rows.end(), [](const Row& row) {
    return row.kind == RowKind::kRank && row.rank == 1;
  });
  ASSERT_NE(heading, rows().rows.end());
  EXPECT_NE(heading->note.find("delayed the others by"), std::string::npos) << heading->note;
}

TEST_F(CommWaitsTest, OfOneRankAloneNothingIsKnown) {
  const CommWaits waits(LoadSampleRun()->run);
  EXPECT_EQ(waits.TransferStart(0, 0, 1'600'000), std::nullopt);
  EXPECT_EQ(waits.HeldUp(0), 0);
}

TEST_F(CommWaitsTest, TheWaitIsPalerThanTheTransfer) {
  Timeline timeline(loaded_->run, rows(), &loaded_->links);
  timeline.Resize(Sizes().label + 1000, 800);
  timeline.Show(10 * kMs, 20 * kMs);
  RecordingCanvas canvas;
  const Painted painted = PaintTimeline(timeline, canvas);
  EXPECT_TRUE(painted.waits);
  const Rgba color = FillColor(InkOf(KernelClass::kComm));
  const EventRef first = Kernel(0, 11 * kMs), last = Kernel(1, 12 * kMs);
  const auto in_row = [&](const EventRef& ref, Rgba wanted) {
    const float top = timeline.RowTop(ref.row);
    return canvas.WithColor(wanted, {0, top, 5000, top + 30});
  };
  const auto waiting = in_row(first, WithAlpha(color, kWaitAlpha));
  const auto moving = in_row(first, color);
  ASSERT_EQ(waiting.size(), 1U);
  ASSERT_EQ(moving.size(), 1U);
  EXPECT_NEAR(waiting[0].box.width(), 100, 2) << "1 of 10 ms";
  EXPECT_EQ(waiting[0].box.right, moving[0].box.left);
  EXPECT_NEAR(moving[0].box.width(), 600, 2);
  EXPECT_TRUE(in_row(last, WithAlpha(color, kWaitAlpha)).empty());
  EXPECT_EQ(in_row(last, color).size(), 1U);
  const std::vector<LegendEntry> legend = LegendOf(painted, {});
  EXPECT_EQ(std::count_if(
                legend.begin(), legend.end(),
                [](const LegendEntry& entry) { return entry.text == "waiting for other ranks"; }),
            1);
}

TEST_F(CommWaitsTest, DetailsSayHowLongItWaitedAndMovedData) {
  const EventRef kernel = Kernel(0, 11 * kMs);
  const std::vector<Detail> details =
      EventDetails(loaded_->run, rows(), kernel, loaded_->links.Of(kernel));
  const auto value = [&](const std::string& what) {
    const auto found = std::find_if(details.begin(), details.end(),
                                    [&](const Detail& detail) { return detail.first == what; });
    return found == details.end() ? std::string() : found->second;
  };
  EXPECT_EQ(value("waited for other ranks"), "1.000 ms");
  EXPECT_EQ(value("transfer"), "6.000 ms");
}

}  // namespace
}  // namespace traceinject
