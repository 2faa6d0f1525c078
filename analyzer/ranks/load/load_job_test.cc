// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/load/load_job.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/ranks/summary/summary_file.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class LoadJobTest : public testing::Test {
 protected:
  std::string RankPath(int rank) {
    return folder_ / ("run.rank0000" + std::to_string(rank) + ".db");
  }
  void Build(int rank, const std::string& run_id = "job-1") {
    RunDbFixture file(RankPath(rank), {.base_ns = 1'000'000 + 100 * rank,
                                       .run_id = run_id,
                                       .pid = 100 + rank,
                                       .rank = rank,
                                       .world_size = 4,
                                       .end_ns = 500});
    file.AddDevice({});
    file.AddLaunchedKernel({.start_ns = 100, .dur_ns = 50}, 10, 5);
    file.Close();
  }
  Job Load(const std::vector<std::string>& paths) {
    auto job = LoadJob(paths, options_);
    EXPECT_TRUE(job.ok()) << job.error();
    return job.ok() ? std::move(job).value() : Job();
  }
  void Summarize(const std::string& recording, const std::string& folder) {
    std::ofstream(SummaryPath(folder, recording), std::ios::binary)
        << WriteSummaries(SummarizeFiles({recording}, {}).at(0).job.value()).value();
  }
  TemporaryFolder folder_;
  JobOptions options_;
};

TEST_F(LoadJobTest, RanksOfAJob) {
  for (const int rank : {0, 1, 3}) Build(rank);
  // However few may be in memory at once.
  for (const std::uint64_t memory_bytes : {0, 1}) {
    options_.memory_bytes = memory_bytes;
    const Job job = Load({folder_ / "run.db"});
    ASSERT_EQ(job.ranks.size(), 3U);
    EXPECT_EQ(job.base_ns, 1'000'000);
    EXPECT_EQ(job.ranks[1].rank, 1);
    ASSERT_EQ(job.ranks[1].steps.size(), 1U) << "the whole window";
    EXPECT_EQ(job.ranks[1].steps[0].time, (Interval{200, 250}));
    EXPECT_EQ(job.notes, std::vector<std::string>{"rank 2 of 4 is missing"});
  }
}

TEST_F(LoadJobTest, SummariesInsteadOfRecordings) {
  const std::string summaries = folder_ / "summaries";
  std::filesystem::create_directory(summaries);
  for (const int rank : {0, 1, 2, 3}) {
    Build(rank);
    Summarize(RankPath(rank), summaries);
  }
  const Job recorded = Load({folder_.path().string()}), summarized = Load({summaries});
  EXPECT_EQ(WriteSummaries(summarized).value(), WriteSummaries(recorded).value());
  EXPECT_EQ(WriteSummaries(Load({folder_ / "summaries/run.db"})).value(),
            WriteSummaries(recorded).value());
  // Where both are, the recording counts.
  const auto both =
      ResolveRunPaths({folder_.path().string(), summaries}, PathsTo::kRecordingsOrSummaries);
  EXPECT_EQ(both.value().files.size(), 8U);
  EXPECT_EQ(WriteSummaries(Load({folder_.path().string(), summaries})).value(),
            WriteSummaries(recorded).value());
}

TEST_F(LoadJobTest, AProcessWithoutGpuWorkIsNamed) {
  Build(0);
  RunDbFixture(RankPath(1), {.rank = 1, .world_size = 4}).Close();
  const Job job = Load({folder_ / "run.db"});
  EXPECT_EQ(job.ranks.size(), 1U);
  ASSERT_EQ(job.notes.size(), 2U);
  EXPECT_EQ(job.notes[0], RankPath(1) + ": no GPU work was recorded");
}

TEST_F(LoadJobTest, DamagedFilesAreLeftOut) {
  Build(0);
  std::ofstream(RankPath(1)) << "TRJRANKS and nothing more that would be a summary";
  std::ofstream(RankPath(2)) << "no database at all";
  const Job job = Load({folder_ / "run.db"});
  EXPECT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.notes.size(), 3U);
  EXPECT_FALSE(LoadJob({RankPath(2)}, options_).ok());
  EXPECT_FALSE(LoadJob({folder_ / "nowhere"}, options_).ok());
}

TEST_F(LoadJobTest, ItTellsHowFarItIsAndCanBeStopped) {
  for (const int rank : {0, 1}) Build(rank);
  LoadProgress last;
  options_.on_progress = [&](const LoadProgress& progress) { last = progress; };
  Load({folder_ / "run.db"});
  EXPECT_EQ(last.files_done, 2U);
  EXPECT_EQ(last.share, 1);
  std::atomic<bool> stop = true;
  options_.stop = &stop;
  const auto stopped = LoadJob({folder_ / "run.db"}, options_);
  ASSERT_FALSE(stopped.ok());
  EXPECT_NE(stopped.error().find("canceled"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
