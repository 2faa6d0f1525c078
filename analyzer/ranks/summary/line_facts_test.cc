// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/line_facts.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/ranks/summary/summarise_rank.h"

namespace traceinject {
namespace {

TEST(LineFactsTest, TheTimeOfAStepIsThatOfItsLines) {
  RankBuilder builder;
  const auto slow = builder.AddStack(
      {{"main", "/w/train.py", 9}, {"choice", "/usr/lib/python3.11/random.py", 5}});
  const auto quick = builder.AddStack({{"main", "/w/train.py", 10}});
  constexpr int kSteps = 100;
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs at = step * 10 * kMs;
    const auto launch = builder.AddApi(at, at + 5 * kUs, "cudaLaunchKernel");
    builder.AddKernel(at + 10 * kUs, at + 9 * kMs, "gemm", launch);
    builder.AddStepMark(at + 6 * kUs);
    for (int look = 0; look < 10; ++look)
      builder.AddLook(at + look * kMs + 500 * kUs, look < 7 ? slow : quick);
  }
  builder.rank().end = kSteps * 10 * kMs;
  const RankSummary summary = SummarizeRank(builder.rank()).at(0);
  ASSERT_EQ(summary.host_lines.size(), 2U);
  EXPECT_EQ(summary.host_lines[0].place, "train.py:9 in main");
  EXPECT_NEAR(static_cast<double>(summary.host_lines[0].ns), 7e6, 0.2e6);
  EXPECT_EQ(summary.host_lines[1].place, "train.py:10 in main");
  EXPECT_NEAR(static_cast<double>(summary.host_lines[1].ns), 3e6, 0.2e6);
  EXPECT_TRUE(summary.worker_lines.empty());
}

TEST(LineFactsTest, OnlyTheLargestAreKept) {
  RankBuilder builder;
  std::map<std::uint32_t, double> places{{kNone, 1e9}};
  for (int line = 1; line <= 9; ++line) {
    builder.AddStack({{"f", "/w/a.py", line}});
    places[static_cast<std::uint32_t>(line - 1)] = line % 2 == 0 ? 0 : line;
  }
  const std::vector<LineFacts> lines = LinesOf(builder.rank(), places, 3);
  EXPECT_EQ(lines,
            (std::vector<LineFacts>{{"a.py:9 in f", 9}, {"a.py:7 in f", 7}, {"a.py:5 in f", 5}}));
}

}  // namespace
}  // namespace traceinject
