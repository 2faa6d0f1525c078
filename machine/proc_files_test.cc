// SPDX-License-Identifier: Apache-2.0
#include "machine/proc_files.h"

#include <gtest/gtest.h>

#include "machine/testing/fake_root.h"

namespace traceinject {
namespace {

TEST(ProcFiles, StatOfAProcessWithAStrangeName) {
  const auto stat = ParseProcStat(FakeStat{.pid = 7,
                                           .state = 'D',
                                           .parent = 3,
                                           .minor = 11,
                                           .major = 12,
                                           .user = 20,
                                           .system = 5,
                                           .start = 99}
                                      .Text());
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'D');
  EXPECT_EQ(stat->parent, 3);
  EXPECT_EQ(stat->minor_faults, 11);
  EXPECT_EQ(stat->major_faults, 12);
  EXPECT_EQ(stat->cpu_ticks, 25);
  EXPECT_EQ(stat->start_ticks, 99);
}

TEST(ProcFiles, StatThatIsCutOffIsNone) {
  const std::string whole = FakeStat{}.Text();
  EXPECT_FALSE(ParseProcStat("").has_value());
  EXPECT_FALSE(ParseProcStat("1 (name").has_value());
  EXPECT_FALSE(ParseProcStat(whole.substr(0, whole.size() / 2)).has_value());
}

TEST(ProcFiles, StatOfThisProcess) {
  const auto text = ReadTextFile("/proc/self/stat");
  ASSERT_TRUE(text.has_value());
  const auto stat = ParseProcStat(*text);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, getppid());
}

TEST(ProcFiles, StatusValues) {
  const std::string text = "Name:\tx\nNameless:\t7\nvoluntary_ctxt_switches:\t12\nEmpty:\nLast: 3";
  EXPECT_EQ(StatusValue(text, "Name"), "x");
  EXPECT_EQ(StatusValue(text, "voluntary_ctxt_switches"), "12");
  EXPECT_EQ(StatusValue(text, "Empty"), "");
  EXPECT_EQ(StatusValue(text, "Last"), "3");
  EXPECT_EQ(StatusValue(text, "Missing"), "");
}

TEST(ProcFiles, WholeNumbers) {
  EXPECT_EQ(WholeNumber("42"), 42);
  EXPECT_EQ(WholeNumber(""), -1);
  EXPECT_EQ(WholeNumber("42 "), -1);
  EXPECT_EQ(WholeNumber("self"), -1);
}

TEST(ProcFiles, WhatIsNotThere) {
  EXPECT_FALSE(ReadTextFile("/nowhere/at/all").has_value());
  EXPECT_FALSE(ListFolder("/nowhere/at/all").has_value());
  EXPECT_EQ(ReadLinkText("/nowhere/at/all"), "");
}

}  // namespace
}  // namespace traceinject
