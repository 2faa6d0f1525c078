// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/job_links.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

constexpr double kNvlink = 450;

// By function and use; the row that takes most time.
const proto::Link* Find(const proto::Ranks& ranks, const std::string& use,
                        const std::string& function = "AllReduce") {
  for (const proto::Link& row : ranks.links()) {
    if (row.use() == use && row.function() == function) return &row;
  }
  return nullptr;
}

// Of data-parallel ranks: the row of their buckets.
proto::Link Buckets(const Job& job) {
  const proto::Ranks ranks = AnalyzeJob(job);
  const proto::Link* const found = Find(ranks, "data");
  return found == nullptr ? proto::Link() : *found;
}

Job OnNvlink(Job job, NcclTransport way = NcclTransport::kGpuToGpu) {
  for (RankSummary& rank : job.ranks) {
    rank.nvlink_gb_per_s = kNvlink;
    for (GroupOperations& group : rank.groups) group.way = way;
  }
  return job;
}

// What waits for others is in no rate, however far the clocks are apart.
TEST(JobLinksTest, RatesAreThoseOfTheTransfers) {
  JobPlan plan = DisturbedLayout(2, 4, 1, 8);
  plan.straggler = 3;
  plan.slow_compute = 1.5;
  const proto::Ranks ranks = AnalyzeJob(SimulateJob(plan).job);
  const proto::Link* const data = Find(ranks, "data");
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data->size(), 4);
  EXPECT_EQ(data->groups(), 2);
  EXPECT_EQ(data->bucket_low_bytes(), 32 << 20);
  EXPECT_EQ(data->bytes(), plan.layer_bytes);
  // 48 MiB at 60 bytes/ns, and 10 us.
  const double transfer = static_cast<double>(plan.layer_bytes) / plan.data_rate + 10'000;
  EXPECT_NEAR(static_cast<double>(data->transfer_ns()), transfer, 0.02 * transfer);
  EXPECT_NEAR(data->algbw_gb_per_s(), static_cast<double>(plan.layer_bytes) / transfer, 2);
  EXPECT_NEAR(data->busbw_gb_per_s(), 1.5 * data->algbw_gb_per_s(), 1e-6);
  EXPECT_LE(data->slowest_gb_per_s(), data->busbw_gb_per_s());
  EXPECT_GE(data->fastest_gb_per_s(), data->busbw_gb_per_s());
  EXPECT_FALSE(data->waiting_included());
  EXPECT_EQ(data->slow_groups(), 0);
  const proto::Link* const tensor = Find(ranks, "tensor");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->groups(), 4);
  EXPECT_NEAR(tensor->algbw_gb_per_s(), 200, 50);
}

TEST(JobLinksTest, SendsAreRowsOfPairs) {
  JobPlan plan = DisturbedLayout(1, 2, 4, 8);
  const proto::Ranks ranks = AnalyzeJob(SimulateJob(plan).job);
  std::int64_t pairs = 0;
  for (const proto::Link& row : ranks.links()) {
    if (row.use() != "pipeline" || row.bucket_low_bytes() < 1 << 20) continue;
    EXPECT_EQ(row.size(), 2);
    EXPECT_NE(row.function(), "Recv") << "what one sends the other receives";
    EXPECT_NEAR(row.busbw_gb_per_s(), plan.pipeline_rate, 0.1 * plan.pipeline_rate)
        << row.function();
    pairs = std::max(pairs, row.groups());
  }
  EXPECT_EQ(pairs, 6);
}

TEST(JobLinksTest, ASlowGroupIsMarkedAmongItsLike) {
  JobPlan plan = DisturbedLayout(2, 8, 1, 16);
  plan.slow_link.rank = 5;
  plan.slow_link.factor = 3;
  const proto::Ranks ranks = AnalyzeJob(SimulateJob(plan).job);
  int marked = 0;
  for (const proto::Link& row : ranks.links()) {
    EXPECT_TRUE(row.slow().empty() || !row.latency_bound());
    for (const proto::SlowGroup& slow : row.slow()) {
      ++marked;
      EXPECT_NEAR(slow.ratio(), 3, 0.2);
      EXPECT_LT(slow.busbw_gb_per_s(), row.busbw_gb_per_s() + 1e-9);
      EXPECT_TRUE(std::count(slow.rows().begin(), slow.rows().end(), 5)) << slow.ranks();
    }
  }
  EXPECT_GE(marked, 2) << "of its tensor and of its data-parallel group";
}

TEST(JobLinksTest, AreHeldAgainstTheLink) {
  JobPlan plan;
  plan.data_rate = 100;
  const Job job = SimulateJob(plan).job;
  EXPECT_EQ(Buckets(job).link(), "");
  EXPECT_FALSE(Buckets(job).has_link_share());
  EXPECT_NE(Buckets(job).reason().find("was not recorded"), std::string::npos);
  const proto::Link nvlink = Buckets(OnNvlink(job));
  EXPECT_EQ(nvlink.link(), "NVLink");
  EXPECT_EQ(nvlink.link_gb_per_s(), kNvlink);
  EXPECT_DOUBLE_EQ(nvlink.link_share(), nvlink.busbw_gb_per_s() / kNvlink);
  EXPECT_NE(Buckets(OnNvlink(job, NcclTransport::kUnknown))
                .reason()
                .find("inferred from the GPU's links"),
            std::string::npos);
  Job by_memory = OnNvlink(job, NcclTransport::kHostMemory);
  EXPECT_FALSE(Buckets(by_memory).has_link_gb_per_s());
  for (RankSummary& rank : by_memory.ranks) {
    rank.host_link = "PCIe 5.0 x16";
    rank.host_link_gb_per_s = 63;
  }
  by_memory.ranks[2].host_link = "PCIe 4.0 x16";
  by_memory.ranks[2].host_link_gb_per_s = 31.5;
  EXPECT_EQ(Buckets(by_memory).link(), "PCIe 4.0 x16 via host memory");
  EXPECT_EQ(Buckets(by_memory).link_gb_per_s(), 31.5);
  Job unknown = OnNvlink(job);
  for (RankSummary& rank : unknown.ranks) {
    rank.gpu = "Some GPU";
    rank.nvlink_gb_per_s = 0;
  }
  EXPECT_EQ(Buckets(unknown).link(), "") << "it may have NVLink, of which no rate is known";
}

TEST(JobLinksTest, BusbwThatIsNoRateOnTheLinkIsHeldAgainstNone) {
  JobPlan plan;
  plan.data_rate = 100;
  Job job = OnNvlink(SimulateJob(plan).job);
  for (RankSummary& rank : job.ranks) {
    for (OperationKind& kind : rank.kinds) kind.algorithm = "NVLS";
  }
  EXPECT_FALSE(Buckets(job).has_link_share());
  EXPECT_NE(Buckets(job).reason().find("NVLS"), std::string::npos);
  plan.data_rate = 400;
  const proto::Link above = Buckets(OnNvlink(SimulateJob(plan).job));
  EXPECT_GT(above.busbw_gb_per_s(), kNvlink);
  EXPECT_FALSE(above.has_link_share());
  EXPECT_NE(above.reason().find("above the link rate"), std::string::npos);
}

// Of a host that sends by two adapters, and one by one of them.
TEST(JobLinksTest, TheHostWithTheFewestAdaptersBoundsTheNetwork) {
  JobPlan plan;
  plan.ranks_per_host = 4;
  Job job = OnNvlink(SimulateJob(plan).job, NcclTransport::kNetwork);
  EXPECT_EQ(Buckets(job).link(), "InfiniBand or RoCE");
  EXPECT_FALSE(Buckets(job).has_link_gb_per_s());
  for (const std::size_t rank : {0, 1, 6}) job.ranks[rank].groups[0].network_gb_per_s = 50;
  EXPECT_EQ(Buckets(job).link_gb_per_s(), 50);
  EXPECT_FALSE(Buckets(job).one_host());
}

TEST(JobLinksTest, RanksWithoutRecordingsMakeItALowerBound) {
  Job job = SimulateJob({}).job;
  job.ranks.pop_back();
  EXPECT_TRUE(Buckets(job).waiting_included());
}

}  // namespace
}  // namespace traceinject
