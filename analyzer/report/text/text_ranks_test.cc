// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/text_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/report/tables/ranks_tables.h"

namespace traceinject {
namespace {

proto::Ranks ManyRanks(int count) {
  proto::Ranks ranks;
  ranks.set_hosts(2);
  ranks.set_steps(50);
  ranks.set_step_ns(20'000'000);
  ranks.set_slowdown(1.1);
  ranks.set_replay_error(0.08);
  for (int rank = 0; rank < count; ++rank) {
    proto::RankRow& row = *ranks.add_ranks();
    row.set_rank(rank);
    row.set_host(rank < count / 2 ? "node-a" : "node-b");
    row.set_step_ns(20'000'000);
    row.set_own_ns(15'000'000 + 10'000 * rank);
    row.set_usual_ns(15'000'000);
    for (const double late : {0.0, 0.015, 0.03, 0.07, 0.15, 0.5}) row.add_lateness(late);
  }
  proto::RankFinding& finding = *ranks.add_findings();
  finding.set_name("straggler");
  finding.set_text("rank 3 delays the other ranks.");
  finding.add_evidence("its clock is low");
  finding.add_levers("its GPU");
  ranks.add_notes("rank 9 of 10 is missing");
  return ranks;
}

proto::Ranks ManyRanksWithoutFindings(int count) {
  proto::Ranks ranks = ManyRanks(count);
  ranks.clear_findings();
  return ranks;
}

TEST(TextRanksTest, SaysWhatWasFoundFirst) {
  const std::string text = WriteRanksText(ManyRanks(4), {});
  EXPECT_NE(text.find("4 ranks on 2 hosts, 50 regular steps of 20.00 ms"), std::string::npos);
  EXPECT_NE(text.find("1.100 times"), std::string::npos);
  EXPECT_NE(text.find("treat savings as rough"), std::string::npos);
  EXPECT_NE(text.find("straggler: rank 3 delays the other ranks."), std::string::npos);
  EXPECT_NE(text.find("- its clock is low"), std::string::npos);
  EXPECT_NE(text.find("try: its GPU"), std::string::npos);
  EXPECT_NE(text.find(".:-+*#"), std::string::npos) << text;
  EXPECT_NE(text.find("note: rank 9 of 10 is missing"), std::string::npos);
  EXPECT_LT(text.find("straggler"), text.find("own time"));
}

TEST(TextRanksTest, ShowsTheRanksFurthestOverTheirPeers) {
  const std::string text = WriteRanksText(ManyRanks(100), {}, 2);
  EXPECT_NE(text.find("990.0 us"), std::string::npos) << text;
  EXPECT_EQ(text.find("970.0 us"), std::string::npos) << text;
  EXPECT_NE(text.find("(98 more; --rows 0 shows all)"), std::string::npos) << text;
  EXPECT_NE(WriteRanksText(ManyRanks(100), {}, 0).find("10.00 us"), std::string::npos);
}

TEST(TextRanksTest, TellsLinksAndTheirSlowGroups) {
  proto::Ranks ranks = ManyRanks(4);
  proto::Link& link = *ranks.add_links();
  link.set_use("data");
  link.set_function("AllReduce");
  link.set_size(8);
  link.set_groups(4);
  link.set_bucket_low_bytes(32 << 20);
  link.set_busbw_gb_per_s(180);
  link.set_link("NVLink");
  link.set_link_share(0.4);
  for (int i = 0; i < 6; ++i) {
    proto::SlowGroup& slow = *link.add_slow();
    slow.set_ranks("ranks 0-7");
    slow.set_ratio(3);
    slow.set_busbw_gb_per_s(60);
  }
  link.set_slow_groups(20);
  const std::string text = WriteRanksText(ranks, {});
  EXPECT_NE(text.find("40.0 %  ###.....  NVLink"), std::string::npos) << text;
  EXPECT_NE(text.find("slow: AllReduce of 32 MiB+ among ranks 0-7: 60.0 GB/s, 3.00 times"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("slow: 16 more groups"), std::string::npos) << text;
  EXPECT_EQ(text.find("below 1 MiB"), std::string::npos) << text;
  link.set_latency_bound(true);
  EXPECT_NE(WriteRanksText(ranks, {}).find("below 1 MiB"), std::string::npos);
}

TEST(TextRanksTest, SharesOutWhatIsLost) {
  proto::Ranks ranks = ManyRanks(4);
  EXPECT_EQ(WriteRanksText(ranks, {}).find("Lost time"), std::string::npos);
  proto::LostTime& lost = *ranks.mutable_lost();
  lost.set_worst_ranks(31);
  lost.set_worst_rem(0.875);
  for (const double share : {0.75, 0.01}) {
    proto::LostCause& cause = *lost.add_causes();
    cause.set_name(share > 0.5 ? "stage 3" : "stage 4");
    cause.set_rem(share);
    cause.set_add(share);
  }
  ranks.mutable_ranks(2)->set_lost_rem(0.6);
  ranks.mutable_ranks(2)->set_lost_add(0.9);
  const std::string text = WriteRanksText(ranks, {.width = 140});
  EXPECT_NE(text.find("stage 3  75.0 %  75.0 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("stage 4"), std::string::npos) << "next to nothing";
  EXPECT_NE(text.find("The worst 31 together: rem 87.5 %"), std::string::npos) << text;
  EXPECT_NE(text.find("60/90 %"), std::string::npos) << text;
}

TEST(TextRanksTest, FitsTheWidth) {
  const std::string text = WriteRanksText(ManyRanks(4), {});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    EXPECT_LE(end - at, kTextWidth) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(TextRanksTest, NobodyHoldsAnybodyUp) {
  proto::Ranks ranks = ManyRanksWithoutFindings(4);
  ranks.set_matched_operations(500);
  EXPECT_NE(WriteRanksText(ranks, {}).find("No rank, link or stage delays the others"),
            std::string::npos);
  EXPECT_NE(WriteRanksText(ManyRanksWithoutFindings(1), {}).find("nothing to compare"),
            std::string::npos);
}

TEST(TextRanksTest, NothingReassuresWhereNothingWasCompared) {
  proto::Ranks ranks = ManyRanksWithoutFindings(4);
  EXPECT_EQ(NoRankFindingText(ranks),
            "Nothing is known between the ranks: none of their operations could be matched.");
  ranks.set_matched_operations(500);
  ranks.set_steps(1);
  EXPECT_EQ(NoRankFindingText(ranks),
            "The ranks were not compared: they have 1 regular step in common, and at least 3 are "
            "needed.");
  ranks.set_steps(0);
  EXPECT_NE(NoRankFindingText(ranks).find("no regular step in common"), std::string::npos);
  EXPECT_EQ(WriteRanksText(ranks, {}).find("delays the others"), std::string::npos);
  EXPECT_EQ(NoRankFindingText(proto::Ranks()), "The ranks were not compared.");
}

TEST(TextRanksTest, UnknownHostsAreNotCounted) {
  proto::Ranks ranks = ManyRanks(4);
  ranks.clear_hosts();
  EXPECT_NE(WriteRanksText(ranks, {}).find("4 ranks on unknown hosts"), std::string::npos);
}

TEST(RanksTablesTest, NamesRanks) {
  proto::Ranks ranks = ManyRanks(2);
  EXPECT_EQ(RankLabel(ranks, 1), "rank 1");
  *ranks.add_ranks() = ranks.ranks(1);
  ranks.mutable_ranks(2)->set_device(1);
  EXPECT_EQ(RankLabel(ranks, 1), "rank 1 GPU 0");
  ranks.mutable_ranks(0)->clear_rank();
  ranks.mutable_ranks(0)->set_path("run.db");
  EXPECT_EQ(RankLabel(ranks, 0), "run.db");
}

}  // namespace
}  // namespace traceinject
