// SPDX-License-Identifier: Apache-2.0
// Data loaders, steps and what else is told by the Python side of a program.
#include <gtest/gtest.h>

#include <vector>

#include "analyzer/import/testing/read_fixture.h"

namespace traceinject {
namespace {

using ReadPythonSideTest = ReadFixture;

TEST_F(ReadPythonSideTest, WhatThePythonSideRecorded) {
  RunDbFixture file(path_, {.end_ns = std::nullopt});
  file.AddKernel({.start_ns = 0, .dur_ns = 1});
  const std::uint32_t plain = file.AddDataLoader({.batch_size = 8});
  const std::uint32_t parallel = file.AddDataLoader(
      {.workers = 4, .pin_memory = true, .persistent_workers = true, .prefetch_factor = 3});
  file.AddDataWait({.start_ns = 500, .dur_ns = 40, .tid = 2, .loader = parallel, .batch = 7});
  file.AddDataWait({.start_ns = 100, .dur_ns = 20, .tid = 1, .loader = plain});
  file.AddDataWait({.start_ns = 300, .dur_ns = 10, .tid = 1});
  file.AddStepMark({.time_ns = 900, .tid = 2, .optimizer = 1});
  file.AddStepMark({.time_ns = 400, .tid = 1, .optimizer = 2});
  file.AddHostSpan(
      {.start_ns = 950, .dur_ns = 60, .kind = HostSpanKind::kGarbageCollection, .detail = 2});
  file.AddHostSpan({.start_ns = 600, .dur_ns = 5, .tid = 1});
  file.AddHostSpan({.start_ns = 700, .dur_ns = 5, .kind = HostSpanKind::kGpuWait, .detail = 5});
  file.Close();

  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1U);
  EXPECT_TRUE(read.notes.empty());
  const Rank& rank = read.ranks[0];
  ASSERT_EQ(rank.loaders.size(), 2U);
  EXPECT_EQ(rank.loaders[0].workers, 0);
  EXPECT_FALSE(rank.loaders[0].pin_memory);
  EXPECT_EQ(rank.loaders[0].prefetch_factor, std::nullopt);
  EXPECT_EQ(rank.loaders[0].batch_size, 8);
  EXPECT_EQ(rank.loaders[1].workers, 4);
  EXPECT_TRUE(rank.loaders[1].pin_memory);
  EXPECT_TRUE(rank.loaders[1].persistent_workers);
  EXPECT_EQ(rank.loaders[1].prefetch_factor, 3);
  EXPECT_EQ(rank.loaders[1].batch_size, std::nullopt);

  const auto tid = [&](std::uint32_t thread) { return rank.threads[thread].tid; };
  const DataWaits& waits = rank.data_waits;
  EXPECT_EQ(waits.start, (TimeColumn{100, 300, 500}));
  EXPECT_EQ(waits.end, (TimeColumn{120, 310, 540}));
  EXPECT_EQ(waits.loader, (std::vector<std::uint32_t>{0, kNone, 1}));
  EXPECT_EQ(waits.batch, (std::vector<std::int64_t>{-1, -1, 7}));
  EXPECT_EQ(tid(waits.thread[0]), 1);
  EXPECT_EQ(tid(waits.thread[2]), 2);
  const StepMarks& marks = rank.step_marks;
  EXPECT_EQ(marks.time, (std::vector<TimeNs>{400, 900}));
  EXPECT_EQ(marks.optimizer, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(tid(marks.thread[0]), 1);
  const HostSpans& spans = rank.host_spans;
  EXPECT_EQ(spans.start, (TimeColumn{600, 700, 950}));
  EXPECT_EQ(spans.end, (TimeColumn{605, 705, 1010}));
  EXPECT_EQ(spans.kind,
            (std::vector<HostSpanKind>{HostSpanKind::kCheckpoint, HostSpanKind::kGpuWait,
                                       HostSpanKind::kGarbageCollection}));
  EXPECT_EQ(spans.detail, (std::vector<std::int32_t>{-1, 5, 2}));
  EXPECT_EQ(tid(spans.thread[0]), 1);
  EXPECT_EQ(rank.end, 1010) << "the last thing seen";
}

TEST_F(ReadPythonSideTest, SamplesOfBatches) {
  RunDbFixture file(path_);
  file.AddDataWait({.start_ns = 10, .dur_ns = 1, .batch = 0, .samples = 32});
  file.AddDataWait({.start_ns = 20, .dur_ns = 1, .batch = 1});
  file.Close();
  EXPECT_EQ(Read().ranks[0].data_waits.samples, (std::vector<std::int64_t>{32, -1}));
}

TEST_F(ReadPythonSideTest, PythonRowsThatCannotBeRight) {
  RunDbFixture file(path_);
  file.AddDataWait({.start_ns = 1, .dur_ns = 2, .loader = 9});
  file.Execute("INSERT INTO data_wait VALUES (1, 2, 99, NULL, 0, NULL)");
  file.Execute("INSERT INTO data_wait VALUES (5, 2, 1, NULL, -7, -7)");
  file.Execute("INSERT INTO step_mark VALUES (1, 99, 1)");
  file.Execute("INSERT INTO step_mark VALUES (9223372036854775807, 1, 1)");
  file.Execute("INSERT INTO host_span VALUES (1, -2, 1, 1, NULL)");
  file.Execute("INSERT INTO host_span VALUES (1, 2, 1, 4, NULL)");
  file.Execute("INSERT INTO data_loader VALUES (5, 99, 0, 0, 0, NULL, NULL)");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks[0];
  EXPECT_EQ(rank.data_waits.loader, (std::vector<std::uint32_t>{kNone, kNone}));
  EXPECT_EQ(rank.data_waits.batch, (std::vector<std::int64_t>{-1, -1}));
  EXPECT_EQ(rank.step_marks.size(), 0U);
  EXPECT_EQ(rank.host_spans.end, (TimeColumn{1}));
  EXPECT_EQ(rank.loaders.size(), 0U);
  EXPECT_EQ(read.notes.size(), 9U);
}

}  // namespace
}  // namespace traceinject
