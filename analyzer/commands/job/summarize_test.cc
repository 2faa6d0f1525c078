// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/ranks/summary/summary_file.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

class SummarizeTest : public testing::Test {
 protected:
  SummarizeTest() {
    for (const char* name : {"a", "b", "out"}) fs::create_directory(folder_ / name);
  }
  // The path of a recording.
  std::string Build(const std::string& name, int rank) {
    const std::string path = folder_ / name;
    RunDbFixture file(path, {.pid = 100 + rank, .rank = rank, .world_size = 2});
    file.AddDevice({});
    file.AddLaunchedKernel({.start_ns = 100, .dur_ns = 50}, 10, 5);
    file.Close();
    return path;
  }
  // The ranks in a summary; -1 where there is none.
  std::vector<int> RanksIn(const std::string& name) {
    const auto job = ReadSummaryFile(folder_ / name);
    if (!job.ok()) return {-1};
    std::vector<int> ranks;
    for (const RankSummary& rank : job.value().ranks) ranks.push_back(rank.rank);
    return ranks;
  }
  TemporaryFolder folder_;
};

using Numbers = std::vector<int>;

TEST_F(SummarizeTest, AFileARankInAFolder) {
  const std::string first = Build("a/run.rank00000.db", 0), second = Build("a/run.rank00001.db", 1);
  EXPECT_EQ(RunSummarize({folder_ / "a/run.db", "-o", folder_ / "out"}), kReported);
  EXPECT_EQ(RanksIn("out/run.rank00000.summary"), Numbers{0});
  EXPECT_EQ(RanksIn("out/run.rank00001.summary"), Numbers{1});
  // A folder that is to be made, by its slash.
  EXPECT_EQ(RunSummarize({first, second, "-o", folder_ / "new/"}), kReported);
  EXPECT_EQ(RanksIn("new/run.rank00001.summary"), Numbers{1});
}

TEST_F(SummarizeTest, AllInOneFileAndSummariesAgain) {
  Build("a/run.rank00000.db", 0);
  Build("a/run.rank00001.db", 1);
  EXPECT_EQ(RunSummarize({folder_ / "a", "-o", folder_ / "job.summary"}), kReported);
  EXPECT_EQ(RanksIn("job.summary"), (Numbers{0, 1}));
  EXPECT_EQ(RunSummarize({folder_ / "job.summary", "-o", folder_ / "again.summary"}), kReported);
  EXPECT_EQ(RanksIn("again.summary"), (Numbers{0, 1}));
  EXPECT_EQ(RunCombine({folder_ / "job.summary", "-o", folder_ / "said.txt"}), kReported);
  EXPECT_GT(fs::file_size(folder_ / "said.txt"), 0U);
}

TEST_F(SummarizeTest, TwoOfOneNameDoNotOverwriteEachOther) {
  const std::string one = Build("a/run.db", 0), other = Build("b/run.db", 1);
  EXPECT_EQ(RunSummarize({one, other, "-o", folder_ / "out"}), kBadUsage);
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
  EXPECT_EQ(RunSummarize({one, other, "-o", folder_ / "job.summary"}), kReported);
  EXPECT_EQ(RanksIn("job.summary"), (Numbers{0, 1}));
}

TEST_F(SummarizeTest, WhatCannotBeReadDoesNotKeepTheRest) {
  Build("a/run.rank00000.db", 0);
  std::ofstream(folder_ / "a/run.rank00001.db") << "no database";
  EXPECT_EQ(RunSummarize({folder_ / "a", "-o", folder_ / "out"}), kUnreadable);
  EXPECT_EQ(RanksIn("out/run.rank00000.summary"), Numbers{0});
  EXPECT_FALSE(fs::exists(folder_ / "out/run.rank00001.summary"));
  EXPECT_EQ(RunSummarize({folder_ / "nowhere"}), kUnreadable);
  EXPECT_EQ(RunSummarize({folder_ / "a", "-o", folder_ / "nowhere/x.summary"}), kUnreadable);
}

}  // namespace
}  // namespace traceinject
