// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_ranks_html.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/html/testing/well_formed.h"

namespace traceinject {
namespace {

proto::Ranks SlowRank() {
  proto::Ranks ranks;
  ranks.set_hosts(1);
  ranks.set_steps(50);
  ranks.set_step_ns(20'000'000);
  ranks.set_slowdown(1.1);
  ranks.set_of_operations(true);
  for (int rank = 0; rank < 4; ++rank) {
    proto::RankRow& row = *ranks.add_ranks();
    row.set_rank(rank);
    row.set_host("</script><script>window.harmed=1</script>");
    row.set_path("timeline.json");
    row.set_own_ns(15'000'000);
    row.set_usual_ns(15'000'000);
    for (const double late : {0.0, 0.03, 0.5}) row.add_lateness(late);
  }
  proto::RankFinding& finding = *ranks.add_findings();
  finding.set_name("straggler");
  finding.set_text("rank 3 delays the other ranks.");
  finding.set_saved_ns(2'000'000);
  ranks.add_notes("rank 9 of 10 is missing");
  return ranks;
}

TEST(WriteRanksHtmlTest, WhatWasFoundComesFirst) {
  const ReadPage page = Read(WriteRanksHtml(SlowRank()));
  EXPECT_EQ(page.error, "");
  EXPECT_EQ(page.Count("h1"), 1);
  EXPECT_EQ(page.Count("script"), 1) << "a host is text";
  for (const char* shown : {"straggler", "rank 3 delays the other ranks.", "2.000\u00A0ms",
                            "timeline.json", "rank 9 of 10 is missing"})
    EXPECT_NE(page.text.find(shown), std::string::npos) << shown;
}

TEST(WriteRanksHtmlTest, NothingWasFound) {
  const ReadPage page = Read(WriteRanksHtml(proto::Ranks()));
  EXPECT_EQ(page.error, "");
  EXPECT_NE(page.text.find("no finding"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
