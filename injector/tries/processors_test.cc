// SPDX-License-Identifier: Apache-2.0
#include "injector/tries/processors.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(ProcessorsTest, ListsAsOfTaskset) {
  const auto processors = ParseProcessors("0-2,5");
  ASSERT_TRUE(processors.has_value());
  EXPECT_EQ(CPU_COUNT(&*processors), 4);
  EXPECT_TRUE(CPU_ISSET(5, &*processors));
  for (const char* list : {"", "a", "3-1", "1,", "-1", "1-", "0-99999", "1 2"})
    EXPECT_FALSE(ParseProcessors(list).has_value()) << list;
}

TEST(ProcessorsTest, RanksOfAHostTakeTheirsInTurn) {
  EXPECT_EQ(ListOfRank("0-3", 1), "0-3");
  EXPECT_EQ(ListOfRank("0-3/4-7", 0), "0-3");
  EXPECT_EQ(ListOfRank("0-3/4-7", 1), "4-7");
  EXPECT_EQ(ListOfRank("0-3/4-7", 2), "0-3");
}

}  // namespace
}  // namespace traceinject
