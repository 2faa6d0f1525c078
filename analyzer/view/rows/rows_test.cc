// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/rows.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

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
                                             "idle",
                                             "queue depth",
                                             "stream 7",
                                             "stream 13",
                                             "streams without events",
                                             "host",
                                             "thread 4242: NVTX",
                                             "thread 4242: NCCL calls",
                                             "thread 4242: CUDA calls",
                                             "threads without events"};
  EXPECT_EQ(labels, expected);
}

TEST(BuildRows, StreamsHaveTheirNamesAndPriorities) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "run.db").string();
  RunDbFixture file(path);
  file.AddKernel({.start_ns = 0, .dur_ns = 10, .stream = 7});
  file.AddKernel({.start_ns = 0, .dur_ns = 10, .stream = 13});
  file.Execute(
      "INSERT INTO string VALUES (90, 'copies');"
      "UPDATE stream SET priority = 0 WHERE stream_id = 7;"
      "UPDATE stream SET priority = -5, name = 90 WHERE stream_id = 13");
  file.Close();
  const auto loaded = LoadWithRows({path}, {}).value();
  const Row* plain = Find(loaded->rows, RowKind::kStream, "stream 7");
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(plain->note, "");
  const Row* named = Find(loaded->rows, RowKind::kStream, "stream 13: copies");
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->note, "priority -5");
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
  const LaneSummary all = gpu->lanes[0].Summarize(900 * kUs, 4'900 * kUs);
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

TEST(BuildRows, RowsFormGroups) {
  const auto loaded = LoadSampleRun();
  const std::vector<Row>& rows = loaded->rows.rows;
  const auto parent = [&](RowKind kind, const std::string& label) {
    const std::uint32_t above = Find(loaded->rows, kind, label)->parent;
    return above == kNone ? std::string("none") : rows[above].label;
  };
  EXPECT_EQ(parent(RowKind::kRank, "rank 0 on node-a"), "none");
  EXPECT_EQ(parent(RowKind::kDevice, "GPU 0"), "rank 0 on node-a");
  EXPECT_EQ(parent(RowKind::kIdle, "idle"), "GPU 0");
  EXPECT_EQ(parent(RowKind::kStream, "stream 13"), "GPU 0");
  EXPECT_EQ(parent(RowKind::kHost, "host"), "rank 0 on node-a");
  EXPECT_EQ(parent(RowKind::kCalls, "thread 4242: CUDA calls"), "host");
}

TEST(BuildRows, TheIdleRowIsWhatTheGpuRowLeavesFree) {
  const auto loaded = LoadSampleRun();
  const Row* gpu = Find(loaded->rows, RowKind::kDevice, "GPU 0");
  const Row* idle = Find(loaded->rows, RowKind::kIdle, "idle");
  ASSERT_NE(idle, nullptr);
  const TimeNs start = 900 * kUs, end = gpu->lanes[0].end(gpu->lanes[0].size() - 1);
  EXPECT_DOUBLE_EQ(idle->BusyShare(start, end), 1 - gpu->BusyShare(start, end));
}

// What the Python side records, and a run long enough for steps.
class PythonSide : public testing::Test {
 protected:
  PythonSide() {
    RunDbFixture file(path_, {.end_ns = 100 * kMs});
    file.AddDevice({});
    for (int step = 0; step < 8; ++step) {
      const TimeNs start = 2 * kMs + step * 10 * kMs;
      file.AddDataWait({.start_ns = start, .dur_ns = 4 * kMs, .batch = step});
      file.AddLaunchedKernel({.start_ns = start + 5 * kMs, .dur_ns = 4 * kMs, .name = "sgemm"},
                             start + 5 * kMs - 10 * kUs, 5 * kUs);
      file.AddStepMark({.time_ns = start + 5 * kMs});
    }
    file.AddHostSpan({.start_ns = 90 * kMs, .dur_ns = 3 * kMs});
    file.AddHostSpan({.start_ns = 95 * kMs,
                      .dur_ns = kMs,
                      .kind = HostSpanKind::kGarbageCollection,
                      .detail = 2});
    file.Close();
    LoadResult loaded = LoadWithRows({path_}, {});
    if (!loaded.ok()) throw std::runtime_error(loaded.error());
    loaded_ = std::move(loaded).value();
  }
  std::string Value(const EventRef& ref, const std::string& what) const {
    for (const auto& [key, value] : EventDetails(loaded_->run, loaded_->rows, ref, {})) {
      if (key == what) return value;
    }
    return "(missing)";
  }
  std::uint32_t RowOf(RowKind kind) const {
    for (std::uint32_t row = 0; row < loaded_->rows.rows.size(); ++row) {
      if (loaded_->rows.rows[row].kind == kind) return row;
    }
    throw std::runtime_error("no such row");
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  std::unique_ptr<const LoadedRun> loaded_;
};

TEST_F(PythonSide, StepsHaveNumbersAndTouch) {
  const std::uint32_t row = RowOf(RowKind::kSteps);
  const Row& steps = loaded_->rows.rows[row];
  EXPECT_EQ(steps.note, "by optimizer steps");
  ASSERT_GE(steps.lanes[0].size(), 6U);
  EXPECT_EQ(steps.lanes[0].end(0), steps.lanes[0].start(1));
  EXPECT_EQ(EventLabel(loaded_->run, loaded_->rows, {row, 0, 2}), "step 3");
  EXPECT_EQ(Value({row, 0, 2}, "duration"), "10.00 ms");
}

TEST_F(PythonSide, WaitsForDataAreARowAndTheCauseOfIdleTime) {
  const std::uint32_t waits = RowOf(RowKind::kDataWaits);
  EXPECT_EQ(loaded_->rows.rows[waits].label, "thread 4242: data wait");
  EXPECT_EQ(loaded_->rows.rows[waits].lanes[0].size(), 8U);
  EXPECT_EQ(Value({waits, 0, 3}, "batch"), "3");
  const std::uint32_t idle = RowOf(RowKind::kIdle);
  EXPECT_EQ(EventLabel(loaded_->run, loaded_->rows, {idle, 0, 0}), "host wait");
  EXPECT_EQ(EventLabel(loaded_->run, loaded_->rows, {idle, 0, 1}), "data wait");
  EXPECT_EQ(Value({idle, 0, 1}, "ended by"), "sgemm");
  EXPECT_EQ(Value({idle, 0, 1}, "launched by"), "cudaLaunchKernel");
}

TEST_F(PythonSide, CheckpointsAndCollectionsAreARow) {
  const std::uint32_t row = RowOf(RowKind::kHostSpans);
  EXPECT_EQ(EventLabel(loaded_->run, loaded_->rows, {row, 0, 0}), "checkpoint");
  EXPECT_EQ(EventLabel(loaded_->run, loaded_->rows, {row, 0, 1}), "garbage collection");
  EXPECT_EQ(Value({row, 0, 1}, "generation"), "2");
}

TEST_F(PythonSide, TheQueueIsEmptyWhileTheProgramWaits) {
  const Row& queue = loaded_->rows.rows[RowOf(RowKind::kQueueDepth)];
  ASSERT_TRUE(queue.counter.has_value());
  EXPECT_EQ(queue.counter->At(4 * kMs), 0);
  EXPECT_EQ(queue.counter->At(7 * kMs - 1 * kUs), 1);
  EXPECT_EQ(queue.note, "0 to 1");
}

TEST(BuildRows, KeepsWhatWasNotRecorded) {
  const auto loaded = LoadSampleRun();
  ASSERT_EQ(loaded->rows.gaps.size(), 1U);
  EXPECT_EQ(loaded->rows.gaps[0].start, 4 * kMs);
  EXPECT_EQ(loaded->rows.gaps[0].end, 5 * kMs);
  EXPECT_EQ(loaded->rows.gaps[0].text, "not recorded: max_size");
}

TEST(BuildRows, AStallWasRecorded) {
  traceinject::Run run;
  run.ranks.resize(1);
  run.ranks[0].gaps = {{kMs, 2 * kMs, "stalled"}};
  const RowModel model = BuildRows(run);
  ASSERT_EQ(model.gaps.size(), 1U);
  EXPECT_EQ(model.gaps[0].text, "stalled: nothing completed on the GPU");
}

}  // namespace
}  // namespace traceinject
