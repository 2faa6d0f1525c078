// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/surroundings.h"

#include <gtest/gtest.h>

#include "analyzer/view/rows/event_text.h"
#include "viewer/core/testing/random_run.h"

namespace traceinject {
namespace {

TEST(SurroundingsTest, AreAllRangesThatContainTheMoment) {
  RandomRun random(7, 2'000);
  for (int i = 0; i < 200; ++i) {
    const HostMoment moment{static_cast<std::uint32_t>(random.Below(2)), 0,
                            random.Below(RandomRun::kLength)};
    std::vector<std::pair<TimeNs, TimeNs>> expected;
    for (const KnownEvent& event : random.events) {
      if (event.kind == RowKind::kNvtx && event.rank == moment.rank && event.start <= moment.time &&
          event.end > moment.time) {
        expected.emplace_back(event.start, event.end);
      }
    }
    std::sort(expected.begin(), expected.end(), [](auto a, auto b) {
      return std::pair(a.first, -a.second) < std::pair(b.first, -b.second);
    });
    std::vector<std::pair<TimeNs, TimeNs>> found;
    for (const EventRef& ref : EventsAround(random.model, RowKind::kNvtx, moment)) {
      found.push_back(EventTimes(random.run, random.model, ref));
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(SurroundingsTest, AnotherThreadHasItsOwn) {
  RandomRun random(7, 50);
  EXPECT_TRUE(EventsAround(random.model, RowKind::kNvtx, {0, 1, RandomRun::kLength / 2}).empty());
}

}  // namespace
}  // namespace traceinject
