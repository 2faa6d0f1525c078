// SPDX-License-Identifier: Apache-2.0
#include "injector/options/try_list.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

std::vector<TryWish> Parsed(std::string_view text) {
  std::vector<TryWish> wishes = {{"before", ""}};
  if (!ParseTryList(text, &wishes)) {
    EXPECT_EQ(wishes.front().lever, "before") << "what is refused changes nothing";
  }
  return wishes;
}

TEST(TryListTest, LeversAndValues) {
  EXPECT_EQ(Parsed("num_workers=4,pin_memory=1"),
            (std::vector<TryWish>{{"num_workers", "4"}, {"pin_memory", "1"}}));
  EXPECT_EQ(Parsed(""), std::vector<TryWish>());
}

TEST(TryListTest, ValuesMayHaveCommasAndEqualSigns) {
  EXPECT_EQ(Parsed("alloc_conf=a:1,b:2,env.NCCL_HCA==mlx5_0,mlx5_1,losses=1"),
            (std::vector<TryWish>{
                {"alloc_conf", "a:1,b:2"}, {"env.NCCL_HCA", "=mlx5_0,mlx5_1"}, {"losses", "1"}}));
}

TEST(TryListTest, AnEmptyValueTakesAVariableAway) {
  EXPECT_EQ(Parsed("env.NCCL_P2P_DISABLE="), (std::vector<TryWish>{{"env.NCCL_P2P_DISABLE", ""}}));
}

TEST(TryListTest, UnknownAndRepeatedLeversAreRefused) {
  for (const char* text :
       {"faster=1", "num_workers", "env.=1", ",pin_memory=1", "pin_memory=1,pin_memory=0"})
    EXPECT_EQ(Parsed(text).front().lever, "before") << text;
}

}  // namespace
}  // namespace traceinject
