// SPDX-License-Identifier: Apache-2.0
// Summaries of the recordings in samples/recordings, against what the analysis of a whole run says
// of them.
#include <gtest/gtest.h>

#include <numeric>

#include "analyzer/import/load/load_run.h"
#include "analyzer/metrics/links/collectives.h"
#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/load/load_job.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/summary/summary_file.h"

namespace traceinject {
namespace {

const std::string kRecordings = TRACEINJECT_RECORDINGS;

Job Load(const std::string& name) {
  auto job = LoadJob({kRecordings + "/" + name}, {});
  EXPECT_TRUE(job.ok()) << job.error();
  return job.ok() ? std::move(job).value() : Job();
}

TEST(RecordedRanksTest, TwoRanksOfDataParallelTraining) {
  const Job job = Load("ddp_h200");
  EXPECT_TRUE(job.notes.empty());
  ASSERT_EQ(job.ranks.size(), 2U);
  auto run = LoadRun({kRecordings + "/ddp_h200"}, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(job.base_ns, run.value().base_ns);
  for (std::size_t i = 0; i < 2; ++i) {
    const RankSummary& summary = job.ranks[i];
    EXPECT_TRUE(CheckSummary(summary).ok());
    EXPECT_EQ(summary.rank, static_cast<int>(i));
    EXPECT_EQ(summary.world_size, 2);
    EXPECT_TRUE(summary.closed);
    EXPECT_TRUE(summary.hung.empty());
    EXPECT_GT(summary.steps.size(), 20U);
    EXPECT_FALSE(summary.kernels.empty());
    EXPECT_EQ(summary.nvlink_gb_per_s, 450);
    EXPECT_TRUE(summary.nccl_settings.empty());
    const Rank& rank = run.value().ranks[i];
    const NcclLinks links =
        LinkNccl(rank, rank.devices.at(static_cast<std::size_t>(summary.device)));
    std::size_t operations = 0;
    for (const GroupOperations& group : summary.groups) {
      operations += group.count();
      EXPECT_NE(group.hash, 0U);
      EXPECT_EQ(group.size, 2);
      EXPECT_EQ(group.way, NcclTransport::kGpuToGpu);
      EXPECT_EQ(group.rank, static_cast<int>(i));
      EXPECT_TRUE(std::is_sorted(group.start.begin(), group.start.end()));
    }
    EXPECT_EQ(operations, links.launches.size());
    EXPECT_GT(operations, summary.steps.size()) << "several buckets a step";
  }
  ASSERT_EQ(job.ranks[0].groups.size(), job.ranks[1].groups.size());
  for (std::size_t i = 0; i < job.ranks[0].groups.size(); ++i) {
    EXPECT_EQ(job.ranks[0].groups[i].hash, job.ranks[1].groups[i].hash);
    EXPECT_EQ(job.ranks[0].groups[i].sequence, job.ranks[1].groups[i].sequence);
  }
}

// What was planted, and what it cost as measured without recording (tests/gpu/results/ranks.md).
void ExpectFirst(const std::string& recording, const std::string& name, const std::string& reason,
                 double cost_ns) {
  const proto::Ranks ranks = AnalyzeJob(Load(recording));
  ASSERT_GT(ranks.findings_size(), 0) << recording;
  const proto::RankFinding& first = ranks.findings(0);
  EXPECT_EQ(first.name(), name) << first.text();
  EXPECT_EQ(first.reason(), reason) << first.text();
  EXPECT_NEAR(static_cast<double>(first.saved_ns()), cost_ns, 0.1 * cost_ns) << first.text();
}

TEST(RecordedRanksTest, PlantedFaultsAreNamedWithWhatTheyCost) {
  ExpectFirst("straggler_gemm_h200", "straggler", "more_work", 6.07e6);
  ExpectFirst("transport_shm_h200", "slow_transport", "", 11.74e6);
  EXPECT_EQ(AnalyzeJob(Load("ddp_h200")).findings_size(), 0);
}

TEST(RecordedRanksTest, NothingIsLostInAFile) {
  for (const char* name : {"ddp_h200", "slow_loader_h200.db.zst", "transformer_h200.db.zst"}) {
    const Job job = Load(name);
    ASSERT_FALSE(job.ranks.empty());
    const auto block = WriteSummaries(job);
    ASSERT_TRUE(block.ok()) << block.error();
    const auto read = ReadSummaries(block.value(), name);
    ASSERT_TRUE(read.ok()) << read.error();
    // Equal summaries give equal bytes.
    EXPECT_EQ(WriteSummaries(read.value()).value(), block.value());
  }
}

TEST(RecordedRanksTest, WhereTheProgramWaitedForData) {
  const Job job = Load("slow_loader_h200.db.zst");
  ASSERT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.ranks[0].rank, -1);
  EXPECT_TRUE(job.ranks[0].groups.empty());
  TimeNs waited = 0, wall = 0;
  for (const StepFacts& step : job.ranks[0].steps) {
    waited += step.idle_ns[static_cast<std::size_t>(IdleCause::kDataWait)];
    wall += step.time.end - step.time.start;
  }
  EXPECT_GT(waited, wall / 4);
}

}  // namespace
}  // namespace traceinject
