// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/hangs.h"

#include <gtest/gtest.h>

#include "analyzer/ranks/findings/rank_findings.h"
#include "analyzer/ranks/testing/job_builder.h"

namespace traceinject {
namespace {

// Four ranks of a communicator of `size`.
JobBuilder FourOf(int size) {
  JobBuilder builder;
  for (int i = 0; i < 4; ++i) builder.AddRank("node");
  builder.AddGroup(7, {0, 1, 2, 3});
  for (RankSummary& rank : builder.job.ranks) rank.groups[0].size = size;
  return builder;
}

void Stand(Job& job, std::initializer_list<std::size_t> ranks, std::int64_t sequence = -1) {
  for (const std::size_t r : ranks)
    job.ranks[r].hung.push_back({7, "AllReduce", 1024, sequence, 900'000'000});
}

TEST(HangsTest, WhoDiedComesFirst) {
  Job job = FourOf(4).job;
  Stand(job, {0, 2});
  job.ranks[3].end = 500'000'000;
  job.ranks[3].closed = false;
  const std::vector<Hang> hangs = FindHangs(job);
  ASSERT_EQ(hangs.size(), 1U);
  EXPECT_EQ(hangs[0].waiting, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(hangs[0].absent, (std::vector<std::size_t>{3, 1}));
  EXPECT_FALSE(hangs[0].all_came());
  const proto::RankFinding finding = DescribeHang(job, hangs[0]);
  EXPECT_EQ(
      finding.text(),
      "ranks 0, 2 hang in AllReduce of 1.024 kB on communicator 0x7; ranks 1, 3 never entered it.");
  ASSERT_EQ(finding.evidence_size(), 2);
  EXPECT_EQ(finding.evidence(0),
            "the recording of rank 3 (node, GPU 0) ended abruptly 500.0 ms before those of the "
            "waiting ranks");
  EXPECT_EQ(finding.evidence(1),
            "rank 1 (node, GPU 0) was recorded to the end and never started the operation");
}

TEST(HangsTest, AllCame) {
  Job job = FourOf(4).job;
  Stand(job, {0, 1, 2, 3}, 12);
  ASSERT_EQ(FindHangs(job).size(), 1U);
  EXPECT_TRUE(FindHangs(job)[0].all_came());
  EXPECT_EQ(DescribeHang(job, FindHangs(job)[0]).text(),
            "ranks 0-3 hang in AllReduce #12 of 1.024 kB on communicator 0x7; all ranks entered "
            "it, and it does not complete.");
}

TEST(HangsTest, RanksThatWereNotRecorded) {
  Job job = FourOf(6).job;
  Stand(job, {0, 1, 2, 3});
  EXPECT_EQ(FindHangs(job)[0].not_recorded, (std::vector<int>{4, 5}));
}

// One stands in operation 11, those that went on have queued 11 and 12.
TEST(HangsTest, TheEarliestOperationCounts) {
  Job job = FourOf(4).job;
  Stand(job, {0, 1, 2}, 11);
  Stand(job, {0, 1}, 12);
  const std::vector<Hang> hangs = FindHangs(job);
  ASSERT_EQ(hangs.size(), 1U);
  EXPECT_EQ(hangs[0].sequence, 11);
  EXPECT_EQ(hangs[0].absent, (std::vector<std::size_t>{3}));
}

// Its kernel completed, as NCCL's number says: it is not absent.
TEST(HangsTest, WhoCompletedItIsNotAbsent) {
  JobBuilder builder = FourOf(4);
  builder.AddOperation(3, 7, {0, 10}, 0);
  builder.job.ranks[3].groups[0].sequence[0] = 11;
  Stand(builder.job, {0, 1, 2}, 11);
  EXPECT_TRUE(FindHangs(builder.job)[0].absent.empty());
}

TEST(HangsTest, NobodyHangs) { EXPECT_TRUE(FindHangs(FourOf(4).job).empty()); }

}  // namespace
}  // namespace traceinject
