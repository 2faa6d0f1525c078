// SPDX-License-Identifier: Apache-2.0
#include "injector/tries/tried.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace traceinject {
namespace {

TEST(TriedTest, TellsWhatWasPulledAndWhyNot) {
  EXPECT_TRUE(TakeTried().empty()) << "nothing was asked for";
  ExpectTries({{"num_workers", "4"}, {"compile", "default"}});
  std::vector<SystemFactRow> rows = TakeTried();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].kind, "try");
  EXPECT_EQ(rows[0].key, "num_workers=4");
  EXPECT_EQ(rows[0].value, "");
  EXPECT_EQ(rows[0].reason, "nothing that it is about was seen");
  EXPECT_TRUE(TakeTried().empty()) << "nothing is new";

  TellTried("num_workers", 2, "train.py:4");
  TellTried("unknown", 1, "");
  rows = TakeTried();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].value, "2: train.py:4");
  EXPECT_EQ(rows[0].reason, "");

  const pid_t child = fork();
  if (child == 0) {
    TellTried("compile", 1, "in a child");
    _exit(TakeTried().empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "a forked child is another process";
  EXPECT_TRUE(TakeTried().empty());
}

}  // namespace
}  // namespace traceinject
