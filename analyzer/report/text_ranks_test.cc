// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/report/ranks_tables.h"

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
  finding.set_text("rank 3 holds the others up.");
  finding.add_evidence("its clock is low");
  finding.add_levers("its GPU");
  ranks.add_notes("rank 9 of 10 is missing");
  return ranks;
}

TEST(TextRanksTest, SaysWhatWasFoundFirst) {
  const std::string text = WriteRanksText(ManyRanks(4), {});
  EXPECT_NE(text.find("4 ranks on 2 hosts, 50 regular steps of 20.00 ms"), std::string::npos);
  EXPECT_NE(text.find("1.100 times"), std::string::npos);
  EXPECT_NE(text.find("take savings as rough"), std::string::npos);
  EXPECT_NE(text.find("straggler: rank 3 holds the others up."), std::string::npos);
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

TEST(TextRanksTest, FitsTheWidth) {
  const std::string text = WriteRanksText(ManyRanks(4), {});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    EXPECT_LE(end - at, kTextWidth) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(TextRanksTest, NobodyHoldsAnybodyUp) {
  proto::Ranks ranks = ManyRanks(4);
  ranks.clear_findings();
  EXPECT_NE(WriteRanksText(ranks, {}).find("No rank, link or stage holds the others up"),
            std::string::npos);
  EXPECT_NE(WriteRanksText(proto::Ranks(), {}).find("nothing to compare"), std::string::npos);
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
