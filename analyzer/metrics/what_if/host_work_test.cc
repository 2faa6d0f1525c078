// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/host_work.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// Launches 10 us apart, and one fetch with 30 us before and 25 us after it.
struct Played {
  RankBuilder builder;
  std::uint32_t fetch = 0, last = 0;

  Played() {
    TimeNs now = 0;
    const auto launch = [&](TimeNs gap) {
      now += gap;
      last = builder.AddApi(now, now + 4'000, "cudaLaunchKernel");
      builder.AddKernel(now + 6'000, now + 9'000, "gemm", last);
      now += 4'000;
    };
    for (int i = 0; i < 20; ++i) launch(10'000);
    now += 30'000;
    fetch = builder.AddApi(now, now + 50'000, "cudaStreamSynchronize");
    now += 50'000;
    for (int i = 0; i < 20; ++i) launch(i == 0 ? 25'000 : 10'000);
  }
  HostTimeline Timeline() { return BuildHostTimeline(builder.rank(), builder.rank().devices[0]); }
};

TEST(HostWorkTest, AllBeforeAWaitAndWhatIsMoreAfterIt) {
  Played played;
  const HostTimeline timeline = played.Timeline();
  const ApiCalls& api = played.builder.rank().api;
  const TimeNs start = api.start[played.fetch], end = api.end[played.fetch];
  EXPECT_EQ(HostWork(played.builder.rank(), timeline).OfWaits(),
            (Intervals{{start - 30'000, start}, {end, end + 15'000}}));
}

TEST(HostWorkTest, FromTheCallBeforeToTheEndOfEach) {
  Played played;
  const HostTimeline timeline = played.Timeline();
  const ApiCalls& api = played.builder.rank().api;
  EXPECT_EQ(HostWork(played.builder.rank(), timeline).OfCalls({3, 4}),
            (Intervals{{api.end[2], api.end[4]}}));
}

// What takes the host many times as long is something else.
TEST(HostWorkTest, NoMoreThanAFewUsualWays) {
  Played played;
  const ApiCalls& api = played.builder.rank().api;
  const TimeNs later = api.end[played.last] + 5'000'000;
  const std::uint32_t call = played.builder.AddApi(later, later + 4'000, "cudaLaunchKernel");
  played.builder.AddKernel(later + 6'000, later + 9'000, "gemm", call);
  const HostTimeline timeline = played.Timeline();
  EXPECT_EQ(HostWork(played.builder.rank(), timeline).OfCalls({call}),
            (Intervals{{later - 100'000, later + 4'000}}));
}

}  // namespace
}  // namespace traceinject
