// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/host_waits.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// Ten steps of one kernel, and before the sixth one 40 ms of which nothing was recorded.
struct Played {
  RankBuilder builder;
  Interval pause;

  Played() {
    TimeNs now = 0;
    for (int step = 0; step < 10; ++step) {
      if (step == 5) {
        pause = {now, now + 40 * kMs};
        now = pause.end;
      }
      const std::uint32_t call = builder.AddApi(now, now + 4'000, "cudaLaunchKernel");
      builder.AddKernel(now + 6'000, now + 2 * kMs, "gemm", call);
      now += 2 * kMs;
      builder.AddStepMark(now);
    }
    builder.rank().end = now;
  }
  std::vector<HostWait> Explain() {
    const Rank& rank = builder.rank();
    const Device& device = rank.devices[0];
    DeviceAnalysis judged =
        FindStepsAndTimeline(rank, device, {{device.ops.start.front(), device.ops.end.back()}});
    judged.causes = SplitSteps(rank, device, judged.timeline, judged.steps);
    return ExplainHostWaits(judged);
  }
};

TEST(HostWaitsTest, UnknownUntilSomethingTells) {
  Played played;
  const std::vector<HostWait> found = played.Explain();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].reason, HostWaitReason::kUnknown);
  EXPECT_NEAR(static_cast<double>(found[0].ns), 40e6, 1e6);
  EXPECT_EQ(found[0].place, kNone);
}

TEST(HostWaitsTest, WorkersThatStart) {
  Played played;
  played.builder.rank().workers.push_back({200, kNone, played.pause.start + kMs, kOpen});
  ASSERT_EQ(played.Explain().size(), 1U);
  EXPECT_EQ(played.Explain()[0].reason, HostWaitReason::kWorkersStarting);
}

TEST(HostWaitsTest, ImportsAndPlacesByStacks) {
  for (const bool imports : {true, false}) {
    Played played;
    const std::uint32_t stack =
        imports ? played.builder.AddStack({{"main", "/home/me/train.py", 12},
                                           {"_find_and_load", "<frozen importlib._bootstrap>", 3}})
                : played.builder.AddStack({{"main", "/home/me/train.py", 12}});
    for (int i = 1; i < 10; ++i) played.builder.AddLook(played.pause.start + i * 4 * kMs, stack);
    const std::vector<HostWait> found = played.Explain();
    ASSERT_EQ(found.size(), 1U) << imports;
    EXPECT_EQ(found[0].reason, imports ? HostWaitReason::kImports : HostWaitReason::kUnknown);
    EXPECT_EQ(PlaceText(played.builder.rank(), found[0].place), "train.py:12 in main");
  }
}

}  // namespace
}  // namespace traceinject
