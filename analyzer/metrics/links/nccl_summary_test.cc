// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/nccl_summary.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

NcclLaunch Launch(const char* function, std::optional<int> size, std::optional<std::int64_t> bytes,
                  TimeNs start, TimeNs length) {
  NcclLaunch launch;
  launch.function = function;
  launch.communicator_size = size;
  launch.bytes = bytes;
  launch.calls = launch.kernels = 1;
  launch.start = start;
  launch.kernel_ns = length;
  return launch;
}

std::vector<NcclRow> Summarize(const std::vector<NcclLaunch>& launches,
                               Interval window = {0, 1000}) {
  const Rank rank;
  const NcclLinks links{launches};
  return SummarizeNccl({{&rank, &links, {window}}});
}

TEST(NcclSummaryTest, BandwidthsOfAnAllReduceOverFourRanks) {
  const auto rows = Summarize(
      {Launch("AllReduce", 4, 2 << 20, 0, 10'000), Launch("AllReduce", 4, 3 << 20, 10, 40'000)});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].bytes, 5 << 20);
  EXPECT_EQ(rows[0].bucket_low_bytes, 2 << 20);
  EXPECT_EQ(rows[0].bucket_high_bytes, 4 << 20);
  EXPECT_DOUBLE_EQ(*rows[0].algbw_gb_per_s(), static_cast<double>(5 << 20) / 50'000);
  EXPECT_DOUBLE_EQ(*rows[0].busbw_gb_per_s(), 1.5 * static_cast<double>(5 << 20) / 50'000);
  EXPECT_EQ(rows[0].busbw_reason(), "");
  EXPECT_FALSE(rows[0].latency_bound());
}

TEST(NcclSummaryTest, RowsByFunctionSizeAndBucketLongestFirst) {
  const auto rows =
      Summarize({Launch("AllReduce", 4, 1000, 0, 10), Launch("AllReduce", 2, 1000, 1, 20),
                 Launch("AllGather", 4, 1000, 2, 30), Launch("AllReduce", 4, 5000, 3, 40)});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].bytes, 5000);
  EXPECT_EQ(rows[1].function, "AllGather");
  EXPECT_EQ(rows[2].communicator_size, 2);
  EXPECT_TRUE(rows[0].latency_bound());
}

TEST(NcclSummaryTest, OnlyLaunchesThatStartInTheWindowCount) {
  EXPECT_EQ(Summarize({Launch("AllReduce", 4, 1000, 99, 10), Launch("AllReduce", 4, 1000, 100, 10)},
                      {0, 100})[0]
                .count,
            1);
}

TEST(NcclSummaryTest, UnknownSizesGiveAReasonInsteadOfARate) {
  auto rows = Summarize({Launch("AllReduce", std::nullopt, 4096, 0, 10)});
  EXPECT_TRUE(rows[0].algbw_gb_per_s());
  EXPECT_FALSE(rows[0].busbw_gb_per_s());
  EXPECT_EQ(rows[0].busbw_reason(), "communicator size unknown");

  NcclLaunch unlinked = Launch("AllReduce", std::nullopt, std::nullopt, 0, 10);
  unlinked.calls = 0;
  rows = Summarize({unlinked});
  EXPECT_FALSE(rows[0].algbw_gb_per_s());
  EXPECT_EQ(rows[0].busbw_reason(), "kernel not linked to its NCCL call");

  EXPECT_EQ(Summarize({Launch("AllGather+AllReduce", 4, 4096, 0, 10)})[0].busbw_reason(),
            "busbw is not defined for this function");
  EXPECT_EQ(Summarize({Launch("AllReduce", 1, 4096, 0, 10)})[0].busbw_reason(),
            "single rank: nothing is sent");
  EXPECT_EQ(Summarize({Launch("AllReduce", 4, 4096, 0, 0)})[0].busbw_reason(),
            "no measurable kernel time");
}

TEST(NcclSummaryTest, ExposedTimeAndChannelsOfTheLaunches) {
  NcclLaunch first = Launch("AllReduce", 4, 1000, 0, 10),
             second = Launch("AllReduce", 4, 900, 1, 20);
  first.exposed_ns = 7;
  second.exposed_ns = 5;
  EXPECT_EQ(Summarize({first, second})[0].channels_min, std::nullopt);
  first.channels = 24;
  second.channels = 8;
  const auto rows = Summarize({first, second});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].exposed_ns, 12);
  EXPECT_EQ(rows[0].channels_min, 8);
  EXPECT_EQ(rows[0].channels_max, 24);
}

TEST(NcclSummaryTest, RowsByCommunicatorWhereAskedFor) {
  Rank rank;
  rank.communicators.resize(2);
  rank.communicators[0].hash = 0x1A2B;
  rank.communicators[1].name = "data parallel";
  NcclLaunch first = Launch("AllReduce", 4, 1000, 0, 10),
             second = Launch("AllReduce", 4, 900, 1, 20);
  first.communicator = 0;
  second.communicator = 1;
  const NcclLinks links{{first, second, Launch("AllReduce", 4, 800, 2, 5)}};
  const std::vector<NcclSource> sources = {{&rank, &links, {{0, 1000}}}};
  EXPECT_EQ(SummarizeNccl(sources).size(), 1u);
  const auto rows = SummarizeNccl(sources, true);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].communicator, "data parallel");
  EXPECT_EQ(rows[1].communicator, "0x1a2b");
  EXPECT_EQ(rows[2].communicator, "");
}

TEST(NcclSummaryTest, EmptyMessagesHaveTheirOwnBucket) {
  const auto rows = Summarize({Launch("AllReduce", 4, 0, 0, 10), Launch("AllReduce", 4, 1, 1, 5)});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].bucket_low_bytes, 0);
  EXPECT_EQ(rows[0].bucket_high_bytes, 1);
  EXPECT_EQ(rows[1].bucket_low_bytes, 1);
  EXPECT_EQ(rows[1].bucket_high_bytes, 2);
}

TEST(NcclSummaryTest, TransferIsKnownOnlyIfItIsForEveryLaunch) {
  NcclLaunch known = Launch("AllReduce", 2, 1000, 0, 100);
  known.transfer_ns = 50;
  auto rows = Summarize({known, known});
  EXPECT_EQ(rows[0].transfer_ns, 100);
  EXPECT_DOUBLE_EQ(*rows[0].transfer_busbw_gb_per_s(), 2000.0 / 100);
  EXPECT_DOUBLE_EQ(*rows[0].busbw_gb_per_s(), 2000.0 / 200);
  rows = Summarize({known, Launch("AllReduce", 2, 1000, 0, 100)});
  EXPECT_FALSE(rows[0].transfer_ns);
  EXPECT_FALSE(rows[0].transfer_busbw_gb_per_s());
}

}  // namespace
}  // namespace traceinject
