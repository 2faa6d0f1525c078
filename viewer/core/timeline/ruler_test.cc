// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/ruler.h"

#include <gtest/gtest.h>

#include <set>

namespace traceinject {
namespace {

TimelineView View(TimeNs start, TimeNs end) {
  TimelineView view(-1'000'000'000'000, 1'000'000'000'000);
  view.SetWidth(1000);
  view.Show(start, end);
  return view;
}

TEST(RulerTicks, StandAtRoundTimesFromTheOrigin) {
  const auto ticks = RulerTicks(View(1'000'000'123, 3'000'000'123), 123, 100);
  ASSERT_EQ(ticks.size(), 11U);
  EXPECT_EQ(ticks[0].time, 1'000'000'123);
  EXPECT_EQ(ticks[0].label, "1.0 s");
  EXPECT_EQ(ticks[1].label, "1.2 s");
  EXPECT_EQ(ticks[10].label, "3.0 s");
}

TEST(RulerTicks, AreApartAndToldApartAtEveryZoom) {
  for (TimeNs span = 100; span < 500'000'000'000; span *= 3) {
    const TimelineView view = View(77'000'000'000, 77'000'000'000 + span);
    const auto ticks = RulerTicks(view, 0, 100);
    ASSERT_GE(ticks.size(), 2U) << span;
    std::set<std::string> labels;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      labels.insert(ticks[i].label);
      if (i == 0) continue;
      EXPECT_GE(view.X(ticks[i].time) - view.X(ticks[i - 1].time), 99) << span;
    }
    EXPECT_EQ(labels.size(), ticks.size()) << span;
  }
}

TEST(RulerTicks, UseTheUnitOfTheLargestTime) {
  EXPECT_EQ(RulerTicks(View(0, 500), 0, 100)[1].label, "50 ns");
  EXPECT_EQ(RulerTicks(View(0, 5'000), 0, 100)[1].label, "0.5 us");
  EXPECT_EQ(RulerTicks(View(0, 20'000'000), 0, 100)[1].label, "2 ms");
  EXPECT_EQ(RulerTicks(View(0, 20'000'000'000), 0, 100)[1].label, "2 s");
}

TEST(RulerTicks, TimesBeforeTheOriginAreNegative) {
  const auto ticks = RulerTicks(View(-2'000'000, 2'000'000), 0, 200);
  EXPECT_EQ(ticks.front().label, "-2 ms");
  EXPECT_EQ(RulerTicks(View(-1'500'000'000, 500'000'000), 0, 200)[0].label, "-1.5 s");
}

}  // namespace
}  // namespace traceinject
