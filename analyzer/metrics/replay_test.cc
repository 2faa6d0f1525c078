// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/replay.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kGemm = "ampere_sgemm_128x64_nn";
constexpr TimeNs kUs = 1'000;

// Ten steps of `load` in next(loader), then ten kernels of 20 us, launched every 10 us; the second
// stream runs communication beside the last of them.
struct Played {
  explicit Played(TimeNs load) {
    builder.rank().streams.push_back({0, 1, 8});
    TimeNs host = 0, gpu = 0;
    for (int step = 0; step < 10; ++step) {
      builder.AddDataWait(host, host + load);
      host += load;
      for (int k = 0; k < 10; ++k) {
        const std::uint32_t call = builder.AddApi(host, host + 4 * kUs, "cudaLaunchKernel");
        const TimeNs start = std::max(gpu, host + 6 * kUs);
        gpu = start + 20 * kUs;
        builder.AddKernel(start, gpu, kGemm, call);
        host += 10 * kUs;
      }
      builder.AddStepMark(host);
    }
    builder.rank().end = gpu;
    const Device& device = builder.rank().devices[0];
    steps = FindSteps(builder.rank(), device, {device.ops.start.front(), device.ops.end.back()});
    timeline = BuildHostTimeline(builder.rank(), device);
    causes = SplitSteps(builder.rank(), device, timeline, steps);
  }
  std::vector<TimeNs> Run(const Scenario& scenario) {
    return Replay(builder.rank(), builder.rank().devices[0], timeline, causes, steps).Run(scenario);
  }

  RankBuilder builder;
  Steps steps;
  HostTimeline timeline;
  GapCauses causes;
};

TEST(ReplayTest, UnchangedItGivesTheRecordingBack) {
  for (const TimeNs load : {0 * kUs, 50 * kUs, 150 * kUs, 900 * kUs}) {
    Played played(load);
    const std::vector<TimeNs> lengths = played.Run({});
    ASSERT_EQ(lengths.size(), played.steps.steps.size());
    for (std::size_t i = 0; i < lengths.size(); ++i)
      EXPECT_EQ(lengths[i], played.steps.steps[i].length_ns()) << load << " step " << i;
  }
}

// 900 us of loading and 100 us of launching against 200 us of kernels.
TEST(ReplayTest, WithoutTheWaitTheGpuSetsThePace) {
  Played played(900 * kUs);
  const std::vector<TimeNs> lengths = played.Run(Scenario::Without(IdleCause::kDataWait));
  // Handing over takes a twentieth of the wait, 45 us: less than the GPU's lead.
  EXPECT_EQ(lengths.back(), 200 * kUs + kSwitchNs);
}

TEST(ReplayTest, ScenariosWithoutSuchTimeChangeNothing) {
  Played played(900 * kUs);
  for (const IdleCause cause : {IdleCause::kAllocator, IdleCause::kGc, IdleCause::kCheckpoint})
    EXPECT_EQ(played.Run(Scenario::Without(cause)), played.Run({}));
  Scenario silent;
  silent.without_communication = true;
  EXPECT_EQ(played.Run(silent), played.Run({}));
}

TEST(ReplayTest, WithoutLaunchingTheLoaderSetsThePace) {
  Played played(900 * kUs);
  Scenario launching;
  launching.without_launching = true;
  EXPECT_EQ(played.Run(launching).back(), 900 * kUs);
}

}  // namespace
}  // namespace traceinject
