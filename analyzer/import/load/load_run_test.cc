// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/load_run.h"

#include <gtest/gtest.h>

#include <fstream>

#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"
#include "schemas/event_tables.h"

namespace traceinject {
namespace {

class LoadRunTest : public testing::Test {
 protected:
  std::string RankPath(int rank) {
    return folder_ / ("run.rank0000" + std::to_string(rank) + ".db");
  }
  void Build(const std::string& path, const RunDbFixture::Options& options) {
    RunDbFixture file(path, options);
    file.AddLaunchedKernel({.start_ns = 100, .dur_ns = 50}, 10, 5);
    file.AddNvtx({.start_ns = 120, .dur_ns = std::nullopt});
    file.AddGap(130, std::nullopt, "max_size");
    file.AddCommunicator({.created_ns = 7});
    file.AddCommunicator({.created_ns = std::nullopt});
    file.AddDataWait({.start_ns = 20, .dur_ns = 3});
    file.AddStepMark({.time_ns = 25});
    file.AddHostSpan({.start_ns = 30, .dur_ns = 4});
    file.Close();
  }
  traceinject::Run Load(const std::vector<std::string>& paths) {
    auto run = LoadRun(paths, options_);
    EXPECT_TRUE(run.ok()) << run.error();
    return run.ok() ? std::move(run).value() : traceinject::Run();
  }
  TemporaryFolder folder_;
  LoadOptions options_;
};

// Kernels every 10 ns; calls every 5 ns, so that the first tenth of them ends earlier.
void WriteMany(const std::string& path, const RunDbFixture::Options& options) {
  RunDbFixture file(path, options);
  for (int i = 0; i < 100; ++i) {
    file.AddKernel({.start_ns = i * 10, .dur_ns = 5});
    file.AddApi({.start_ns = i * 5, .dur_ns = 2});
    file.AddNvtx({.start_ns = 5'000, .dur_ns = 1});
  }
  file.Close();
}

TEST_F(LoadRunTest, OnlyTheFirstRowsIfAskedFor) {
  WriteMany(RankPath(0), {.base_ns = 1'000, .rank = 0});
  WriteMany(RankPath(1), {.base_ns = 3'000, .rank = 1});
  options_.most_rows = 60;
  const traceinject::Run run = Load({folder_ / "run.db"});
  ASSERT_EQ(run.ranks.size(), 2u);
  for (const Rank& rank : run.ranks) {
    const std::size_t calls = rank.api.size();
    EXPECT_EQ(calls, rank.devices.at(0).ops.size());
    EXPECT_GE(calls, 9u);
    EXPECT_LE(calls, 12u);
    // The first call that is missing.
    EXPECT_EQ(rank.read_until - rank.start, static_cast<TimeNs>(5 * calls));
    EXPECT_LT(rank.api.end.back(), rank.read_until);
  }
  options_.most_rows = 1'000;
  for (const Rank& rank : Load({folder_ / "run.db"}).ranks) {
    EXPECT_EQ(rank.read_until, kOpen);
    EXPECT_EQ(rank.api.size(), 100u);
  }
}

TEST_F(LoadRunTest, OnlyTheTablesAskedFor) {
  Build(RankPath(0), {.rank = 0});
  LoadProgress last;
  options_.on_progress = [&](const LoadProgress& progress) { last = progress; };
  const traceinject::Run whole = Load({RankPath(0)});
  const std::uint64_t all_rows = last.rows;
  options_.tables = EventTables{InfoOf(EventTable::kStepMark).name};
  const traceinject::Run part = Load({RankPath(0)});
  const Rank& rank = part.ranks.at(0);
  EXPECT_EQ(rank.step_marks.time, whole.ranks.at(0).step_marks.time);
  EXPECT_EQ(rank.devices.at(0).ops.start, whole.ranks.at(0).devices.at(0).ops.start);
  EXPECT_EQ(rank.gaps.size(), 1u);
  EXPECT_EQ(rank.api.size() + rank.nvtx.size() + rank.data_waits.size() + rank.host_spans.size(),
            0u);
  EXPECT_EQ(last.rows, all_rows - 4);
  EXPECT_EQ(last.share, 1);
}

// Also rows that cannot be, and the last seconds alone.
TEST_F(LoadRunTest, SeveralThreadsReadALongFileAsOneDoes) {
  RunDbFixture file(RankPath(0), {.closed = false});
  for (int i = 0; i < 150'000; ++i) {
    const TimeNs called = i * TimeNs{10'000};
    file.AddLaunchedKernel({.start_ns = called + 5'000, .dur_ns = i % 1'000 == 0 ? -1 : 2'000},
                           called, 3'000);
  }
  file.Close();
  for (const TimeNs last_ns : {TimeNs{0}, TimeNs{1'400'000'000}}) {
    options_.last_ns = last_ns;
    options_.threads = 1;
    const traceinject::Run by_one = Load({RankPath(0)});
    options_.threads = 8;
    const traceinject::Run by_several = Load({RankPath(0)});
    EXPECT_EQ(by_several.notes, by_one.notes);
    const Rank &one = by_one.ranks.at(0), &several = by_several.ranks.at(0);
    const GpuOps &ops = several.devices.at(0).ops, &ops_of_one = one.devices.at(0).ops;
    ASSERT_EQ(ops.size(), ops_of_one.size());
    ASSERT_EQ(several.api.size(), one.api.size());
    EXPECT_GT(ops.size(), 139'000U);
    for (std::size_t row = 0; row < ops.size(); ++row) {
      ASSERT_EQ(ops.start[row], ops_of_one.start[row]);
      ASSERT_EQ(ops.end[row], ops_of_one.end[row]);
      ASSERT_EQ(ops.launch[row], ops_of_one.launch[row]);
      ASSERT_EQ(ops.correlation[row], ops_of_one.correlation[row]);
    }
    for (std::size_t row = 0; row < one.api.size(); ++row)
      ASSERT_EQ(several.api.start[row], one.api.start[row]);
  }
}

TEST_F(LoadRunTest, ReadingIsBrokenOff) {
  Build(RankPath(0), {.rank = 0});
  std::atomic<bool> stop = true;
  options_.stop = &stop;
  const auto stopped = LoadRun({RankPath(0)}, options_);
  ASSERT_FALSE(stopped.ok());
  EXPECT_NE(stopped.error().find("canceled"), std::string::npos);
  stop = false;
  EXPECT_TRUE(LoadRun({RankPath(0)}, options_).ok());
}

TEST_F(LoadRunTest, RanksOnOneBase) {
  Build(RankPath(1), {.base_ns = 1'000'000, .rank = 1, .end_ns = 200});
  Build(RankPath(0), {.base_ns = 1'000'400, .rank = 0});
  const traceinject::Run run = Load({folder_ / "run.db"});
  EXPECT_TRUE(run.notes.empty());
  EXPECT_EQ(run.base_ns, 1'000'000);
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.ranks[0].rank, 0);
  EXPECT_EQ(run.ranks[0].start, 400);
  EXPECT_EQ(run.ranks[0].end, 550);
  EXPECT_EQ(run.ranks[0].devices.at(0).ops.start.front(), 500);
  EXPECT_EQ(run.ranks[0].devices.at(0).ops.end.front(), 550);
  EXPECT_EQ(run.ranks[0].api.start.front(), 410);
  EXPECT_EQ(run.ranks[0].nvtx.start.front(), 520);
  EXPECT_EQ(run.ranks[0].nvtx.end.front(), kOpen);
  EXPECT_EQ(run.ranks[0].gaps.at(0).start, 530);
  EXPECT_EQ(run.ranks[0].gaps.at(0).end, kOpen);
  EXPECT_EQ(run.ranks[0].communicators.at(0).created, 407);
  EXPECT_EQ(run.ranks[0].communicators.at(1).created, Communicator().created);
  EXPECT_EQ(run.ranks[0].data_waits.start.front(), 420);
  EXPECT_EQ(run.ranks[0].data_waits.end.front(), 423);
  EXPECT_EQ(run.ranks[0].step_marks.time.at(0), 425);
  EXPECT_EQ(run.ranks[0].host_spans.start.front(), 430);
  EXPECT_EQ(run.ranks[0].host_spans.end.front(), 434);
  EXPECT_EQ(run.ranks[1].rank, 1);
  EXPECT_EQ(run.ranks[1].start, 0);
  EXPECT_EQ(run.ranks[1].end, 200);
}

TEST_F(LoadRunTest, OnlyTheNewestAttempt) {
  Build(RankPath(0), {.base_ns = 5'000'000'000, .run_id = "second", .rank = 0});
  Build(RankPath(1), {.base_ns = 6'000'000'000, .run_id = "second", .rank = 1});
  Build(RankPath(2), {.base_ns = 1'000'000'000, .run_id = "first", .rank = 2});
  const traceinject::Run run = Load({folder_.path().string()});
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.ranks[1].run_id, "second");
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_NE(run.notes[0].find(RankPath(2)), std::string::npos) << run.notes[0];
}

TEST_F(LoadRunTest, OneBadFileDoesNotHideTheOthers) {
  Build(RankPath(0), {.rank = 0});
  std::ofstream(RankPath(1)) << "garbage";
  const traceinject::Run run = Load({folder_ / "run.db"});
  EXPECT_EQ(run.ranks.size(), 1u);
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_NE(run.notes[0].find("left out: " + RankPath(1)), std::string::npos) << run.notes[0];
}

TEST_F(LoadRunTest, NothingReadable) {
  std::ofstream(RankPath(0)) << "garbage";
  const auto one = LoadRun({RankPath(0)}, options_);
  ASSERT_FALSE(one.ok());
  EXPECT_NE(one.error().find("not an SQLite database"), std::string::npos);
  std::ofstream(RankPath(1)) << "garbage";
  const auto two = LoadRun({folder_ / "run.db"}, options_);
  ASSERT_FALSE(two.ok());
  EXPECT_NE(two.error().find("1 more file"), std::string::npos) << two.error();
  EXPECT_FALSE(LoadRun({folder_ / "nowhere.db"}, options_).ok());
}

TEST_F(LoadRunTest, SaysWhenTwoFilesAreOneRank) {
  Build(folder_ / "a.db", {.rank = 0});
  Build(folder_ / "b.db", {.rank = 0});
  const traceinject::Run run = Load({folder_.path().string()});
  EXPECT_EQ(run.ranks.size(), 2u);
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_NE(run.notes[0].find("2 processes claim to be rank 0"), std::string::npos);
}

TEST_F(LoadRunTest, SaysWhenRanksAreMissing) {
  Build(RankPath(0), {.rank = 0, .world_size = 2});
  const traceinject::Run part = Load({RankPath(0)});
  ASSERT_EQ(part.notes.size(), 1u);
  EXPECT_EQ(part.notes[0], "the job has 2 ranks; 1 was read");
  Build(RankPath(1), {.rank = 1, .world_size = 2});
  EXPECT_TRUE(Load({folder_ / "run.db"}).notes.empty());
}

TEST_F(LoadRunTest, ManyFilesOnManyThreadsReportProgress) {
  for (int rank = 0; rank < 9; ++rank) Build(RankPath(rank), {.rank = rank});
  LoadProgress last;
  options_.threads = 4;
  options_.on_progress = [&](const LoadProgress& progress) {
    EXPECT_GE(progress.share, last.share);
    last = progress;
  };
  const traceinject::Run run = Load({folder_ / "run.db"});
  ASSERT_EQ(run.ranks.size(), 9u);
  for (int rank = 0; rank < 9; ++rank)
    EXPECT_EQ(run.ranks[static_cast<std::size_t>(rank)].rank, rank);
  EXPECT_EQ(last.share, 1);
  EXPECT_EQ(last.files_done, 9u);
  EXPECT_EQ(last.files, 9u);
  EXPECT_GE(last.rows, 9u * 3);
}

}  // namespace
}  // namespace traceinject
