// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/thread_looks.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(ThreadLooks, CountsWhereAThreadWasFound) {
  RankBuilder builder;
  const auto walk = builder.AddStack({{"main", "train.py", 1},
                                      {"walk", "tree.py", 2},
                                      {"walk", "tree.py", 2},
                                      {"sum", "/usr/lib/python3.12/functools.py", 3}});
  const auto main = builder.AddStack({{"main", "train.py", 1}});
  builder.AddLook(0, walk, StackKind::kTimed, 0, 0, 4, 40);
  builder.AddLook(50, main);
  builder.AddLook(60, kNone);
  builder.AddLook(70, walk, StackKind::kCall, 1);
  builder.AddLook(80, main, StackKind::kTimed, 0, 1);
  const Rank& rank = builder.rank();
  const std::vector<ThreadLooks> threads = CountLooksOfThreads(rank);
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0].all, 7);
  const ThreadLooks::At at_main = threads[0].of(rank.stacks[main].place);
  EXPECT_EQ(at_main.innermost, 1);
  EXPECT_EQ(at_main.anywhere, 6);
  const ThreadLooks::At at_walk = threads[0].of(rank.stacks[1].place);
  EXPECT_EQ(at_walk.innermost, 5);
  EXPECT_EQ(at_walk.anywhere, 5) << "once, though it calls itself";
  const ThreadLooks::At at_sum = threads[0].of(rank.stacks[walk].place);
  EXPECT_EQ(at_sum.innermost, 0);
  EXPECT_EQ(at_sum.anywhere, 5);
  EXPECT_EQ(threads[1].all, 1);
}

}  // namespace
}  // namespace traceinject
