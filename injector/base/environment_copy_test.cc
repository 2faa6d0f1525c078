// SPDX-License-Identifier: Apache-2.0
#include "injector/base/environment_copy.h"

#include <gtest/gtest.h>

#include <cstring>

namespace traceinject {
namespace {

TEST(EnvironmentCopyTest, StaysAsItWas) {
  char rank[] = "RANK=3", local[] = "LOCAL_RANK=1", broken[] = "no equals sign";
  char* block[] = {local, rank, broken, nullptr};
  const EnvironmentCopy copy(block);
  std::strcpy(rank, "?????");
  block[0] = nullptr;
  EXPECT_EQ(copy.Get("RANK"), "3");
  EXPECT_EQ(copy.Get("LOCAL_RANK"), "1");
  EXPECT_STREQ(copy.block()[1], "RANK=3");
  EXPECT_STREQ(copy.block()[2], "no equals sign");
  EXPECT_EQ(copy.block()[3], nullptr);
}

TEST(EnvironmentCopyTest, KnowsWhatIsNotSet) {
  char empty[] = "EMPTY=", longer[] = "RANKS=3";
  char* block[] = {empty, longer, nullptr};
  EXPECT_EQ(EnvironmentCopy(block).Get("EMPTY"), "");
  EXPECT_EQ(EnvironmentCopy(block).Get("RANK"), "");
  EXPECT_EQ(EnvironmentCopy(nullptr).block()[0], nullptr);
}

}  // namespace
}  // namespace traceinject
