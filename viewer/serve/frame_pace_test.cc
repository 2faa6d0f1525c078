// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/frame_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <utility>

namespace traceinject {
namespace {

using std::chrono::milliseconds;

// A link, in its own time: a frame takes its turn of `frame_ms`, and is seen `far_ms` later.
struct Link {
  int far_ms = 0, frame_ms = 0;
};
struct Outcome {
  int frames = 0;     // in the last second
  int oldest_ms = 0;  // of a frame when it was seen, in the last second
};

Outcome PlayFor10Seconds(const Link& link) {
  FramePace pace;
  Outcome outcome;
  std::deque<std::pair<int, int>> under_way;  // when it was sent, when it is seen
  std::uint32_t sent = 0, seen = 0;
  int free_at = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    const FramePace::Time now{milliseconds(ms)};
    while (!under_way.empty() && under_way.front().second <= ms) {
      EXPECT_TRUE(pace.Seen(++seen, now));
      if (ms >= 9'000) ++outcome.frames;
      if (ms >= 9'000)
        outcome.oldest_ms = std::max(outcome.oldest_ms, ms - under_way.front().first);
      under_way.pop_front();
    }
    if (!pace.MaySend()) continue;
    pace.Sent(++sent, now);
    free_at = std::max(free_at, ms) + link.frame_ms;
    under_way.emplace_back(ms, free_at + link.far_ms);
  }
  return outcome;
}

TEST(FramePace, AFarLinkGetsMoreThanAFrameARound) {
  const Outcome outcome = PlayFor10Seconds({.far_ms = 100, .frame_ms = 6});
  EXPECT_GE(outcome.frames, 60);
  EXPECT_LE(outcome.oldest_ms, 200);
}

TEST(FramePace, ANarrowLinkGetsNoQueue) {
  const Outcome outcome = PlayFor10Seconds({.far_ms = 20, .frame_ms = 120});
  EXPECT_GE(outcome.frames, 7);
  EXPECT_LE(outcome.oldest_ms, 3 * 120 + 20);
}

TEST(FramePace, WhatWasNotSentCannotBeSeen) {
  FramePace pace;
  EXPECT_FALSE(pace.Seen(1, {}));
  pace.Sent(1, {});
  EXPECT_TRUE(pace.Seen(1, {}));
  EXPECT_TRUE(pace.Seen(1, {})) << "again";
  EXPECT_FALSE(pace.Seen(2, {}));
}

TEST(FramePace, WithoutAnswersNothingIsSent) {
  FramePace pace;
  std::uint32_t frames = 0;
  while (pace.MaySend() && frames < 100) pace.Sent(++frames, {});
  EXPECT_EQ(frames, FramePace::kLeastAhead);
}

}  // namespace
}  // namespace traceinject
