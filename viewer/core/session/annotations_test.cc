// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/annotations.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(Annotations, StandInTheOrderOfTheirTimes) {
  Annotations marks({{70, 70, "late", 1}, {50, 90, "early", 2}}, 0);
  EXPECT_EQ(marks.marks()[0].text, "early");
  EXPECT_EQ(marks.Add({60, 60, "between", 3}), 1U);
}

TEST(Annotations, CanBeChangedAndRemoved) {
  Annotations marks({}, 0);
  marks.Add({10, 10, "a", 1});
  marks.Add({20, 20, "b", 1});
  EXPECT_EQ(marks.Change(0, {40, 30, "c", 2}), 1U);
  EXPECT_EQ(marks.marks()[1], (Mark{30, 40, "c", 2})) << "start before end";
  marks.Remove(0);
  ASSERT_EQ(marks.marks().size(), 1U);
  marks.Remove(0);
  EXPECT_TRUE(marks.marks().empty());
}

TEST(Annotations, TextIsMadePrintable) {
  Annotations marks({{1, 1, "\033[2J", 1}}, 0);
  EXPECT_EQ(marks.marks()[0].text, " [2J");
  marks.Add({2, 2,
             "a\x1b[31m\n\xff"
             "b",
             1});
  EXPECT_EQ(marks.marks()[1].text,
            "a [31m \uFFFD"
            "b");
  marks.Add({3, 3, std::string(10'000, 'x'), 1});
  EXPECT_LE(marks.marks()[2].text.size(), kMaxMarkTextBytes);
}

TEST(Annotations, FollowTheBase) {
  Annotations marks({{10, 20, "", 1}}, 1'000);
  marks.SetBase(900);
  EXPECT_EQ(marks.marks()[0], (Mark{110, 120, "", 1}));
}

}  // namespace
}  // namespace traceinject
