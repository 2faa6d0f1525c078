// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/rows.h"

#include <gtest/gtest.h>

#include "viewer/core/row_layout.h"
#include "viewer/core/sample_run.h"

namespace traceinject {
namespace {

constexpr TimeNs kUs = 1'000, kMs = 1'000'000;

const Row* Find(const RowModel& model, RowKind kind, const std::string& label) {
  for (const Row& row : model.rows) {
    if (row.kind == kind && row.label == label) return &row;
  }
  return nullptr;
}

TEST(BuildRows, MakesARowForAllThatHasEvents) {
  const auto loaded = LoadSampleRun();
  std::vector<std::string> labels;
  for (const Row& row : loaded->rows.rows) labels.push_back(row.label);
  const std::vector<std::string> expected = {"rank 0 on node-a",
                                             "GPU 0",
                                             "stream 7",
                                             "stream 13",
                                             "thread 4242: NVTX",
                                             "thread 4242: NCCL calls",
                                             "thread 4242: CUDA calls"};
  EXPECT_EQ(labels, expected);
}

TEST(BuildRows, ShowsAllOfTheTimeFromTheFirstGpuOperation) {
  const auto loaded = LoadSampleRun();
  EXPECT_EQ(loaded->rows.start, 800 * kUs);
  EXPECT_EQ(loaded->rows.end, 5 * kMs);
  EXPECT_EQ(loaded->rows.origin, 900 * kUs);
}

TEST(BuildRows, OverlappingKernelsOfAStreamStandInSubLanes) {
  const auto loaded = LoadSampleRun();
  const Row* stream = Find(loaded->rows, RowKind::kStream, "stream 7");
  ASSERT_NE(stream, nullptr);
  ASSERT_EQ(stream->lanes.size(), 2U);
  EXPECT_EQ(stream->lanes[0].size(), 19U);
  EXPECT_EQ(stream->lanes[1].size(), 1U);
  EXPECT_EQ(stream->Count(0, 5 * kMs), 20U);
  // 20 kernels of 50 us, two of which share 10 us, in 4 ms.
  EXPECT_DOUBLE_EQ(stream->BusyShare(kMs, 5 * kMs), 990.0 / 4000);
}

TEST(BuildRows, TheGpuRowIsThePartitionOfItsStreams) {
  const auto loaded = LoadSampleRun();
  const Row* gpu = Find(loaded->rows, RowKind::kDevice, "GPU 0");
  ASSERT_NE(gpu, nullptr);
  ASSERT_EQ(gpu->lanes.size(), 1U);
  const LaneSummary all = gpu->lanes[0].Summarise(900 * kUs, 4'900 * kUs);
  // Compute 990 us; of the collective's 400 us four kernels of 50 us hide 200; the copy runs alone.
  EXPECT_FLOAT_EQ(all.mix[0], 990.0F / 4000);
  EXPECT_FLOAT_EQ(all.mix[1], 200.0F / 4000);
  EXPECT_FLOAT_EQ(all.mix[2], 50.0F / 4000);
}

TEST(BuildRows, NvtxRangesNestByDepth) {
  const auto loaded = LoadSampleRun();
  const Row* nvtx = Find(loaded->rows, RowKind::kNvtx, "thread 4242: NVTX");
  ASSERT_NE(nvtx, nullptr);
  ASSERT_EQ(nvtx->lanes.size(), 2U);
  EXPECT_EQ(nvtx->lanes[0].end(0) - nvtx->lanes[0].start(0), 3 * kMs);
  EXPECT_EQ(nvtx->lanes[1].size(), 2U);
}

TEST(BuildRows, OpenRangesReachTheEndOfTheRecording) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "run.db").string();
  {
    RunDbFixture file(path, {.end_ns = 9 * kMs});
    file.AddNvtx({.start_ns = kMs, .dur_ns = std::nullopt, .text = "open"});
    file.Close();
  }
  const LoadResult loaded = LoadWithRows({path}, {});
  ASSERT_TRUE(loaded.ok()) << loaded.error();
  const Row* nvtx = Find(loaded.value()->rows, RowKind::kNvtx, "thread 4242: NVTX");
  ASSERT_NE(nvtx, nullptr);
  EXPECT_EQ(nvtx->lanes[0].end(0), 9 * kMs);
}

TEST(BuildRows, KeepsWhatWasNotRecorded) {
  const auto loaded = LoadSampleRun();
  ASSERT_EQ(loaded->rows.gaps.size(), 1U);
  EXPECT_EQ(loaded->rows.gaps[0].start, 4 * kMs);
  EXPECT_EQ(loaded->rows.gaps[0].end, 5 * kMs);
  EXPECT_EQ(loaded->rows.gaps[0].reason, "max_size");
}

TEST(RowLayout, EveryPixelOfALaneFindsIt) {
  const auto loaded = LoadSampleRun();
  const RowLayout layout(loaded->rows, 19);
  for (std::size_t row = 0; row < loaded->rows.rows.size(); ++row) {
    for (std::size_t lane = 0; lane < loaded->rows.rows[row].lanes.size(); ++lane) {
      for (const float inside : {0.0F, 0.5F, 0.99F}) {
        const float y = layout.lane_top_px(row, lane) + inside * layout.lane_px(row);
        EXPECT_EQ(layout.At(y, loaded->rows), std::make_pair(row, lane)) << y;
      }
    }
  }
  const std::size_t none = loaded->rows.rows.size();
  EXPECT_EQ(layout.At(-1, loaded->rows).first, none);
  EXPECT_EQ(layout.At(layout.height_px(), loaded->rows).first, none);
}

TEST(RowLayout, VisibleRowsAreThoseThatShow) {
  const auto loaded = LoadSampleRun();
  const RowLayout layout(loaded->rows, 19);
  const std::size_t rows = loaded->rows.rows.size();
  for (float top = 0; top < layout.height_px(); top += 7) {
    const auto [first, last] = layout.VisibleRows(top, top + 40);
    for (std::size_t row = 0; row < rows; ++row) {
      const bool shows = layout.bottom_px(row) > top && layout.top_px(row) < top + 40;
      EXPECT_EQ(row >= first && row < last, shows) << "row " << row << " at " << top;
    }
  }
}

}  // namespace
}  // namespace traceinject
