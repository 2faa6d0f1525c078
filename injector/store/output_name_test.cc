// SPDX-License-Identifier: Apache-2.0
#include "injector/store/output_name.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

OutputName Name(const char* pattern, int rank = -1, int world_size = -1) {
  OutputName name;
  name.pattern = pattern;
  name.rank = rank;
  name.world_size = world_size;
  name.host = "node7";
  name.pid = 4321;
  name.start = 1700000000;  // 2023-11-14 22:13:20 UTC
  return name;
}

TEST(OutputNameTest, ExpandsEveryConversion) {
  EXPECT_EQ(ExpandOutputName(Name("/t/%h-%r-%p-%t-%%.db", 3, 8)),
            "/t/node7-3-4321-20231114-221320-%.db");
}

TEST(OutputNameTest, PadsNumbersWithZeros) {
  EXPECT_EQ(ExpandOutputName(Name("a%05r-%8p.db", 3, 8)), "a00003-00004321.db");
  EXPECT_EQ(ExpandOutputName(Name("%999999999999r", 3, 8)), "00000000000000000003");
}

TEST(OutputNameTest, OneProcessKeepsThePlainName) {
  EXPECT_EQ(ExpandOutputName(Name("run.db")), "run.db");
  EXPECT_EQ(ExpandOutputName(Name("run.db", 0, 1)), "run.db");
}

TEST(OutputNameTest, RanksGetTheirNumberBeforeTheExtension) {
  EXPECT_EQ(ExpandOutputName(Name("run.db", 3, 8)), "run.rank00003.db");
  EXPECT_EQ(ExpandOutputName(Name("run.db", 0, 8)), "run.rank00000.db");
  EXPECT_EQ(ExpandOutputName(Name("/a.b/run", 3, 8)), "/a.b/run.rank00003");
  EXPECT_EQ(ExpandOutputName(Name("/a.b/.run", 3, 8)), "/a.b/.run.rank00003");
  EXPECT_EQ(ExpandOutputName(Name("run.%h.db", 123456, 200000)), "run.node7.rank123456.db");
}

TEST(OutputNameTest, ARankOfAnUnknownNumberCountsAsOneOfSeveral) {
  EXPECT_EQ(ExpandOutputName(Name("run.db", 2, -1)), "run.rank00002.db");
}

TEST(OutputNameTest, ARankOrPidInThePatternIsEnough) {
  EXPECT_EQ(ExpandOutputName(Name("run.%r.db", 3, 8)), "run.3.db");
  EXPECT_EQ(ExpandOutputName(Name("run.%p.db", 3, 8)), "run.4321.db");
  EXPECT_EQ(ExpandOutputName(Name("run.%05r.db", 3, 8)), "run.00003.db");
}

TEST(OutputNameTest, AnEscapedPercentSignIsNoRank) {
  EXPECT_EQ(ExpandOutputName(Name("run%%r.db", 3, 8)), "run%r.rank00003.db");
}

TEST(OutputNameTest, KeepsWhatItDoesNotKnow) {
  EXPECT_EQ(ExpandOutputName(Name("run%x%5h%.db%")), "run%x%5h%.db%");
  EXPECT_EQ(ExpandOutputName(Name("run%12")), "run%12");
}

TEST(OutputNameTest, RankOutsideOfAJobIsZero) {
  EXPECT_EQ(ExpandOutputName(Name("run.%r.db")), "run.0.db");
}

TEST(OutputNameTest, AHostNameStaysOneComponent) {
  OutputName name = Name("%h.db");
  name.host = "a/b";
  EXPECT_EQ(ExpandOutputName(name), "a_b.db");
}

}  // namespace
}  // namespace traceinject
