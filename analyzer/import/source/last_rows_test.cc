// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/last_rows.h"

#include <gtest/gtest.h>

#include <memory>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/model/join_rate.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

constexpr TimeNs kSecond = 1'000'000'000, kEvery = 10'000'000;
constexpr int kLaunches = 10'000;  // until 100 s

// A launch every 10 ms, and an hour's range that ended with it, as one is stored at its end.
void AddLaunches(int first, int last, RunDbFixture& file) {
  for (int i = first; i < last; ++i) {
    const TimeNs called = i * kEvery;
    file.AddLaunchedKernel({.start_ns = called + 5'000, .dur_ns = 2'000}, called, 3'000);
    file.AddNvtx({.start_ns = called - 3'600 * kSecond, .dur_ns = 3'600 * kSecond});
    file.AddStepMark({.time_ns = called});
  }
}

class LastRowsTest : public testing::Test {
 protected:
  void Build(const RunDbFixture::Options& options = {.closed = false}) {
    RunDbFixture file(path_, options);
    AddLaunches(0, kLaunches, file);
    file.Close();
  }
  traceinject::Run Load(TimeNs last_ns) {
    LoadOptions options;
    options.last_ns = last_ns;
    options.on_progress = [this](const LoadProgress& progress) { rows_read_ = progress.rows; };
    auto run = LoadRun({path_}, options);
    EXPECT_TRUE(run.ok()) << run.error();
    return run.ok() ? std::move(run).value() : traceinject::Run();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  std::uint64_t rows_read_ = 0;
};

TEST_F(LastRowsTest, WhatIsReadIsTheLastSecondsExactly) {
  Build();
  const traceinject::Run run = Load(10 * kSecond);
  const Rank& rank = run.ranks.at(0);
  const TimeNs from = (kLaunches - 1) * kEvery + 7'000 - 10 * kSecond;
  EXPECT_EQ(rank.kept_from, from);
  const GpuOps& ops = rank.devices.at(0).ops;
  EXPECT_EQ(ops.start.front(), from + kEvery - 2'000);
  EXPECT_EQ(ops.size(), 1'000U);
  EXPECT_EQ(rank.api.size(), 1'000U);
  EXPECT_EQ(rank.step_marks.size(), 1'000U);
  // Long ranges that ended within it are there, too, though they began long before.
  EXPECT_EQ(rank.nvtx.size(), 1'000U);
  const JoinRate join = CountJoins(rank);
  EXPECT_EQ(join.joined, join.operations) << "the first call was before";
  EXPECT_EQ(run.notes.back(), "this covers the last 10.00 s of the recording");
}

TEST_F(LastRowsTest, OnlyTheEndsOfTablesAreRead) {
  Build();
  Load(10 * kSecond);
  // The part, and what may be out of order before it.
  EXPECT_GT(rows_read_, 4'000U);
  EXPECT_LT(rows_read_, 4 * 1'600U);
  Load(0);
  EXPECT_GE(rows_read_, 4U * kLaunches);
}

TEST_F(LastRowsTest, BuffersThatComeOutOfOrderAreRead) {
  RunDbFixture file(path_, {});
  AddLaunches(0, 5'000, file);
  AddLaunches(5'100, 5'200, file);
  AddLaunches(5'000, 5'100, file);  // a buffer of a second that came a second later
  file.Close();
  EXPECT_EQ(Load(kSecond).ranks.at(0).devices.at(0).ops.size(), 100U);
  EXPECT_EQ(Load(2 * kSecond).ranks.at(0).devices.at(0).ops.size(), 200U);
}

TEST_F(LastRowsTest, MoreThanThereIsIsAll) {
  Build();
  const traceinject::Run run = Load(1'000 * kSecond);
  EXPECT_EQ(run.ranks.at(0).devices.at(0).ops.size(), static_cast<std::size_t>(kLaunches));
}

TEST_F(LastRowsTest, RowidsThatDoNotBeginAtOneOrHaveHoles) {
  RunDbFixture file(path_, {});
  AddLaunches(0, 200, file);
  file.Execute("DELETE FROM kernel WHERE rowid % 3 = 0");
  file.Execute("UPDATE kernel SET rowid = rowid + 9223372036854770000");
  file.Execute("UPDATE api SET rowid = rowid - 9223372036854770000 WHERE rowid < 100");
  file.Close();
  const auto recording = OpenRecording(path_);
  ASSERT_TRUE(recording.ok()) << recording.error();
  const auto last = FindLastRows(recording.value(), 10 * kEvery);
  ASSERT_TRUE(last.ok()) << last.error();
  ASSERT_TRUE(last.value());
  EXPECT_EQ(last.value()->from, 199 * kEvery + 7'000 - 10 * kEvery);
}

TEST_F(LastRowsTest, NothingWasRecorded) {
  RunDbFixture(path_, {}).Close();
  const auto recording = OpenRecording(path_);
  ASSERT_TRUE(recording.ok()) << recording.error();
  const auto last = FindLastRows(recording.value(), kSecond);
  ASSERT_TRUE(last.ok()) << last.error();
  EXPECT_FALSE(last.value());
  EXPECT_TRUE(Load(kSecond).ranks.at(0).devices.empty());
}

}  // namespace
}  // namespace traceinject
