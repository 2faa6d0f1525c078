// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/cpu_list.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

using Ranges = std::vector<std::pair<int, int>>;

TEST(CpuList, RangesAndSingleOnes) {
  EXPECT_EQ(ParseCpuList("0-31,64,66-67"), (Ranges{{0, 31}, {64, 64}, {66, 67}}));
  EXPECT_EQ(ParseCpuList(""), Ranges{});
  for (const char* bad : {"a", "3-", "-3", "4-2", "1,,2", "0x3"})
    EXPECT_EQ(ParseCpuList(bad), std::nullopt) << bad;
}

TEST(CpuList, Overlap) {
  EXPECT_TRUE(Overlap({{0, 3}, {8, 9}}, {{9, 12}}));
  EXPECT_FALSE(Overlap({{0, 3}, {8, 9}}, {{4, 7}}));
  EXPECT_FALSE(Overlap({}, {{4, 7}}));
}

}  // namespace
}  // namespace traceinject
