// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/kept_part.h"

#include <gtest/gtest.h>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/model/join_rate.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

// Operations whose call is missing though it was recorded.
std::int64_t Unlinked(const Rank& rank) {
  const JoinRate join = CountJoins(rank);
  return join.operations - join.joined;
}

class KeptPartTest : public testing::Test {
 protected:
  static constexpr TimeNs kKeptFrom = 10'000'000, kEvery = 10'000;
  static constexpr int kLaunches = 2'000;  // until 20 ms

  // Kernels run 50 launches after they were launched. Of what ended before kKeptFrom some rows are
  // left: the last 100 calls, and every third operation.
  void Build(const RunDbFixture::Options& options, bool dropped) {
    RunDbFixture file(path_, options);
    for (int i = 0; i < kLaunches; ++i) {
      const TimeNs called = i * kEvery, started = (i + 50) * kEvery;
      const auto id = static_cast<std::uint64_t>(i + 1);
      const TimeNs calls_from = dropped ? kKeptFrom - 100 * kEvery : 0;
      if (called >= calls_from)
        file.AddApi({.start_ns = called, .dur_ns = 2'000, .correlation = id});
      if (!dropped || started + 5'000 > kKeptFrom || i % 3 == 0)
        file.AddKernel({.start_ns = started, .dur_ns = 5'000, .correlation = id});
      file.AddStepMark({.time_ns = called + 3'000});
    }
    if (dropped) file.AddGap(0, kKeptFrom, "keep_last");
    file.Close();
  }
  traceinject::Run Load() {
    auto run = LoadRun({path_}, LoadOptions());
    EXPECT_TRUE(run.ok()) << run.error();
    return run.ok() ? std::move(run).value() : traceinject::Run();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
};

TEST_F(KeptPartTest, WhatWasKeptIsTheRecording) {
  Build({}, true);
  const traceinject::Run run = Load();
  const Rank& rank = run.ranks.at(0);
  EXPECT_EQ(rank.kept_from, kKeptFrom);
  EXPECT_TRUE(rank.gaps.empty()) << "it is no part of the run that this is about";
  const GpuOps& ops = rank.devices.at(0).ops;
  EXPECT_EQ(ops.start.front(), kKeptFrom);
  EXPECT_EQ(ops.size(), 1050U);
  EXPECT_EQ(rank.api.size(), 1000U);
  EXPECT_EQ(rank.step_marks.size(), 1000U);
}

TEST_F(KeptPartTest, CallsOfBeforeAreNotMissed) {
  Build({}, true);
  const traceinject::Run run = Load();
  const Rank& rank = run.ranks.at(0);
  EXPECT_EQ(rank.first_kept_call, 1001U);
  EXPECT_EQ(Unlinked(rank), 0);
  EXPECT_EQ(rank.trust.lost_operations, 0);
  EXPECT_EQ(rank.trust.links, 1000);
  EXPECT_TRUE(rank.devices.at(0).ops.unrecorded.empty());
}

TEST_F(KeptPartTest, ACallThatIsMissingLaterIsMissed) {
  Build({}, true);
  ASSERT_EQ(Unlinked(Load().ranks.at(0)), 0);
  RunDbFixture file(path_, {});
  file.AddLaunchedKernel({.start_ns = kKeptFrom + 10'000, .dur_ns = 500}, kKeptFrom + 1'000, 500);
  file.AddKernel({.start_ns = kKeptFrom + 20'000, .dur_ns = 500, .correlation = 2});
  file.AddGap(0, kKeptFrom, "keep_last");
  file.Close();
  EXPECT_EQ(Unlinked(Load().ranks.at(0)), 1);
}

TEST_F(KeptPartTest, TheReportSaysHowLongItIs) {
  Build({.end_ns = 21'000'000}, true);
  const traceinject::Run run = Load();
  ASSERT_EQ(run.notes.size(), 1U);
  EXPECT_EQ(run.notes[0],
            "flight recorder (TRACEINJECT_KEEP_LAST): of 21.00 ms the last 11.00 ms were kept, and "
            "the report covers those");
}

TEST_F(KeptPartTest, AWholeRecordingIsLeftAlone) {
  Build({}, false);
  const traceinject::Run run = Load();
  const Rank& rank = run.ranks.at(0);
  EXPECT_FALSE(rank.kept_from);
  EXPECT_EQ(rank.api.size(), std::size_t{kLaunches});
  EXPECT_EQ(rank.devices.at(0).ops.size(), std::size_t{kLaunches});
  EXPECT_TRUE(run.notes.empty());
}

// Rowids go on from where they were.
TEST_F(KeptPartTest, RowsAreCountedFromTheFirstThatIsLeft) {
  {
    RunDbFixture file(path_, {});
    for (int i = 0; i < 100; ++i) file.AddLaunchedKernel({.start_ns = i, .dur_ns = 1}, i, 1);
    file.Execute("UPDATE kernel SET rowid = rowid + 1000000000");
    file.Close();
  }
  std::uint64_t rows = 0;
  LoadOptions options;
  options.most_rows = 100;  // of about 200
  const auto run = LoadRun({path_}, options);
  ASSERT_TRUE(run.ok()) << run.error();
  rows = run.value().ranks.at(0).devices.at(0).ops.size();
  EXPECT_GT(rows, 40U);
  EXPECT_LT(rows, 60U);
}

// Kernels run five launches after they were launched; of what was launched or ran in the gap
// nothing is there.
TEST_F(KeptPartTest, WhatPlannedGapsCutIsNotMissed) {
  for (const char* reason : {"window", "max_size"}) {
    RunDbFixture file(path_, {});
    const auto recorded = [](TimeNs time) { return time < 300'000 || time > 600'000; };
    for (int i = 0; i < 100; ++i) {
      const TimeNs called = i * kEvery, started = (i + 5) * kEvery;
      const auto id = static_cast<std::uint64_t>(i + 1);
      if (recorded(called)) file.AddApi({.start_ns = called, .dur_ns = 2'000, .correlation = id});
      if (recorded(started))
        file.AddKernel({.start_ns = started, .dur_ns = 5'000, .correlation = id});
    }
    file.AddGap(295'000, 305'000, reason);
    file.Close();
    const traceinject::Run run = Load();
    const Rank& rank = run.ranks.at(0);
    const bool planned = std::string(reason) == "window";
    EXPECT_EQ(Unlinked(rank), planned ? 0 : 5) << reason;
    EXPECT_EQ(rank.trust.lost_operations, planned ? 0 : 5) << reason;
    EXPECT_EQ(run.notes.size(), planned ? 1U : 0U);
    EXPECT_EQ(rank.gaps.size(), 1U);
  }
}

TEST_F(KeptPartTest, RangesThatAreOpenWhenAWindowEndsEndWithIt) {
  for (const char* reason : {"window", "max_size"}) {
    RunDbFixture file(path_, {});
    for (const TimeNs start : {100'000, 500'000, 900'000})
      file.AddNvtx({.start_ns = start, .dur_ns = std::nullopt, .text = "open"});
    file.AddNvtx({.start_ns = 200'000, .dur_ns = 600'000, .text = "whole"});
    file.AddKernel({.start_ns = 1'500'000, .dur_ns = 5'000});
    file.AddGap(300'000, 100'000, reason);
    file.AddGap(700'000, 50'000, reason);
    file.Close();
    const traceinject::Run run = Load();
    const TimeColumn& ends = run.ranks.at(0).nvtx.end;
    const bool planned = std::string(reason) == "window";
    EXPECT_EQ(ends, planned ? (TimeColumn{300'000, 800'000, 700'000, kOpen})
                            : (TimeColumn{kOpen, 800'000, kOpen, kOpen}))
        << reason;
  }
}

// The last calls of the driver were not stored yet when the process was killed, as in older
// recordings.
TEST_F(KeptPartTest, CallsThatWereNotStoredYetAreNotMissed) {
  for (const bool closed : {false, true}) {
    RunDbFixture file(path_, {.closed = closed});
    for (std::uint64_t id = 1; id <= 100; ++id) {
      const auto at = static_cast<TimeNs>(id * 1000);
      if (id <= 80)
        file.AddApi({.start_ns = at,
                     .dur_ns = 10,
                     .name = "cuLaunchKernel",
                     .domain = ApiDomain::kDriver,
                     .correlation = id});
      file.AddKernel({.start_ns = at + 100, .dur_ns = 50, .correlation = id});
    }
    file.Close();
    EXPECT_EQ(Unlinked(Load().ranks.at(0)), closed ? 20 : 0);
  }
}

}  // namespace
}  // namespace traceinject
