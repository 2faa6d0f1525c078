// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// Ten steps of `load` in next(loader), then ten kernels of 20 us, launched every 10 us; the second
// stream runs communication beside the last of them.
struct PlayedOnce {
  explicit PlayedOnce(TimeNs load) {
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

// What a replay of the first device of a rank rests on. The rank must outlive it.
struct Judged {
  explicit Judged(const Rank& rank)
      : device(rank.devices[0]),
        steps(FindSteps(rank, device, {device.ops.start.front(), device.ops.end.back()})),
        timeline(BuildHostTimeline(rank, device)),
        causes(SplitSteps(rank, device, timeline, steps)),
        replay(rank, device, timeline, causes, steps) {}

  const Device& device;
  const Steps steps;
  const HostTimeline timeline;
  const GapCauses causes;
  const Replay replay;
};

// A long run of short steps. What took time by the square of their number took minutes.
TEST(ReplayTest, ManyShortSteps) {
  constexpr int kMany = 400'000;
  RankBuilder builder;
  TimeNs host = 0, gpu = 0;
  for (int step = 0; step < kMany; ++step) {
    builder.AddDataWait(host, host + kUs);
    const std::uint32_t call = builder.AddApi(host + kUs, host + 4 * kUs, "cudaLaunchKernel");
    gpu = std::max(gpu, host + 6 * kUs) + 20 * kUs;
    builder.AddKernel(gpu - 20 * kUs, gpu, kGemm, call);
    host += 20 * kUs;
    builder.AddStepMark(host);
  }
  builder.rank().end = gpu;
  const Judged judged(builder.rank());
  EXPECT_GT(judged.steps.steps.size(), std::size_t{kMany - 10});
  EXPECT_EQ(judged.replay.Run({}).size(), judged.steps.steps.size());
}

// Kernels that take half as long: the program waits for its kernels, until its host is what limits
// it.
TEST(ReplayTest, OperationsTakeOtherTimes) {
  PlayedOnce played(0);
  const GpuOps& ops = played.builder.rank().devices[0].ops;
  std::vector<OpLength> lengths;
  Scenario scenario;
  for (const TimeNs length : {15 * kUs, 5 * kUs}) {
    lengths.clear();
    for (std::uint32_t row = 0; row < ops.size(); ++row) lengths.push_back({row, length});
    scenario.lengths = std::make_shared<const std::vector<OpLength>>(lengths);
    const std::vector<TimeNs> steps = played.Run(scenario);
    const TimeNs expected = 10 * std::max(length, 10 * kUs);  // the host launches every 10 us
    for (std::size_t i = 1; i < steps.size(); ++i)
      EXPECT_NEAR(static_cast<double>(steps[i]), static_cast<double>(expected), 3.0 * kUs) << i;
  }
  scenario.lengths = std::make_shared<const std::vector<OpLength>>();
  EXPECT_EQ(played.Run(scenario), played.Run({}));
}

// Nothing that ran beside a long operation begins before that one did, once that is short.
TEST(ReplayTest, ShorterOperationsKeepTheOrder) {
  RankBuilder builder;
  builder.rank().streams.push_back({0, 1, 8});
  for (int step = 0; step < 5; ++step) {
    const TimeNs at = step * 1'000 * kUs;
    const std::uint32_t call = builder.AddApi(at, at + kUs, "cudaLaunchKernel");
    builder.UseStream(0);
    builder.AddKernel(at + 10 * kUs, at + 900 * kUs, kGemm, call);
    builder.UseStream(1);
    builder.AddKernel(at + 100 * kUs, at + 400 * kUs, "flash_fwd_kernel", call);
    builder.AddStepMark(at + 2 * kUs);
  }
  builder.rank().end = 5'000 * kUs;
  const Judged judged(builder.rank());
  const std::size_t operations = builder.rank().devices[0].ops.size();
  std::vector<OpLength> lengths;
  for (std::uint32_t row = 0; row < operations; row += 2) lengths.push_back({row, 50 * kUs});
  Scenario scenario;
  scenario.lengths = std::make_shared<const std::vector<OpLength>>(lengths);
  const std::vector<TimeNs> played = judged.replay.Run(scenario);
  ASSERT_EQ(played.size(), judged.steps.steps.size());
  // A launch every 1,000 us by the host: no step is shorter for it, and none longer.
  for (std::size_t i = 1; i < played.size(); ++i)
    EXPECT_NEAR(static_cast<double>(played[i]), 1e6, 20e3) << i;
}

// A copy beside the kernels of a step: without it these run one after the other as before.
TEST(ReplayTest, WhatIsNotThereLeavesWhatOverlappedItAlone) {
  RankBuilder builder;
  builder.rank().streams.push_back({0, 1, 8});
  std::vector<OpLength> gone;
  std::uint32_t row = 0;
  for (int step = 0; step < 5; ++step) {
    const TimeNs at = step * 1'000 * kUs;
    const std::uint32_t call = builder.AddApi(at, at + kUs, "cudaLaunchKernel");
    for (int k = 0; k < 10; ++k, ++row) {
      const TimeNs start = at + (100 * k + 10) * kUs;
      builder.UseStream(0);
      builder.AddKernel(start, start + 99 * kUs, kGemm, call);
      if (k != 2) continue;
      builder.UseStream(1);
      builder.AddCopy(start + 10 * kUs, start + 510 * kUs,
                      {.kind = 1, .src_kind = 2, .dst_kind = 3});
      gone.push_back({++row, 0});
    }
    builder.AddStepMark(at + 2 * kUs);
  }
  builder.rank().end = 5'000 * kUs;
  const Judged judged(builder.rank());
  Scenario scenario;
  scenario.lengths = std::make_shared<const std::vector<OpLength>>(gone);
  EXPECT_EQ(judged.replay.Run(scenario), judged.replay.Run({}));
}

// Twenty long kernels, for which the queue has not enough room, then many short ones, for which the
// host is too slow: when it comes to those depends on the room.
TEST(ReplayTest, AFullQueueHoldsTheHostBack) {
  constexpr std::size_t kRoom = 10;
  RankBuilder builder;
  std::vector<TimeNs> starts;
  TimeNs host = 0, gpu = 0;
  for (int step = 0; step < 10; ++step) {
    for (int k = 0; k < 320; ++k) {
      const TimeNs room = starts.size() < kRoom ? 0 : starts[starts.size() - kRoom];
      const TimeNs returned = std::max(host + 4 * kUs, room);
      const std::uint32_t call = builder.AddApi(host, returned, "cudaLaunchKernel");
      starts.push_back(std::max(gpu, host + 6 * kUs));
      gpu = starts.back() + (k < 20 ? 100 * kUs : kUs);
      builder.AddKernel(starts.back(), gpu, kGemm, call);
      host = returned + 4 * kUs;
    }
    builder.AddStepMark(host);
  }
  builder.rank().end = gpu;
  const Judged judged(builder.rank());
  const std::vector<TimeNs> played = judged.replay.Run({});
  ASSERT_EQ(played.size(), judged.steps.steps.size());
  for (std::size_t i = 0; i < played.size(); ++i) {
    const auto recorded = static_cast<double>(judged.steps.steps[i].length_ns());
    EXPECT_NEAR(static_cast<double>(played[i]), recorded, 0.005 * recorded) << i;
  }
}

// Where a scenario is said to change nothing, its replay is that of none.
TEST(ReplayTest, ScenariosWithoutWhatTheRecordingHasChangeNothing) {
  std::vector<Scenario> scenarios(3);
  scenarios[0].without_launching = true;
  scenarios[1].without_communication = true;
  scenarios[2].upload_rate = 50;
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
    scenarios.push_back(Scenario::Without(static_cast<IdleCause>(cause)));
  PlayedOnce played(900 * kUs);
  const Replay replay(played.builder.rank(), played.builder.rank().devices[0], played.timeline,
                      played.causes, played.steps);
  std::size_t changing = 0;
  for (Scenario& scenario : scenarios) {
    scenario.recorder_ns = 2 * kUs;
    if (replay.Changes(scenario)) {
      ++changing;
      continue;
    }
    Scenario none;
    none.recorder_ns = scenario.recorder_ns;
    EXPECT_EQ(replay.Run(scenario), replay.Run(none));
  }
  EXPECT_TRUE(replay.Changes(scenarios[0]));
  EXPECT_TRUE(replay.Changes(Scenario::Without(IdleCause::kDataWait)));
  EXPECT_LT(changing, scenarios.size());
}

// The last one launches nothing; what comes later belongs to no step.
TEST(ReplayTest, AStepWithoutOperationsIsAsLongAsItsHostTook) {
  RankBuilder builder;
  TimeNs host = 0;
  for (int step = 0; step < 5; ++step) {
    const TimeNs begin = host;
    for (int k = 0; k < 10 && step < 4; ++k) {
      const std::uint32_t call = builder.AddApi(host, host + 4 * kUs, "cudaLaunchKernel");
      builder.AddKernel(host + 36 * kUs, host + 56 * kUs, kGemm, call);
      host += 30 * kUs;
    }
    if (step == 4) host += 300 * kUs;
    builder.AddRange({begin, host, "ProfilerStep#" + std::to_string(step)});
  }
  const std::uint32_t later =
      builder.AddApi(host + 400 * kUs, host + 404 * kUs, "cudaLaunchKernel");
  builder.AddKernel(host + 410 * kUs, host + 420 * kUs, kGemm, later);
  builder.rank().end = host + 420 * kUs;
  const Device& device = builder.rank().devices[0];
  const Steps steps =
      FindSteps(builder.rank(), device, {device.ops.start.front(), device.ops.end.back()});
  const HostTimeline timeline = BuildHostTimeline(builder.rank(), device);
  const GapCauses causes = SplitSteps(builder.rank(), device, timeline, steps);
  const std::vector<TimeNs> lengths =
      Replay(builder.rank(), device, timeline, causes, steps).Run({});
  ASSERT_EQ(steps.steps.size(), lengths.size());
  EXPECT_EQ(steps.steps.back().last_op, kNone);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    EXPECT_EQ(lengths[i], steps.steps[i].length_ns()) << i;
}

TEST(ReplayTest, UnchangedItGivesTheRecordingBack) {
  for (const TimeNs load : {0 * kUs, 50 * kUs, 150 * kUs, 900 * kUs}) {
    PlayedOnce played(load);
    const std::vector<TimeNs> lengths = played.Run({});
    ASSERT_EQ(lengths.size(), played.steps.steps.size());
    for (std::size_t i = 0; i < lengths.size(); ++i)
      EXPECT_EQ(lengths[i], played.steps.steps[i].length_ns()) << load << " step " << i;
  }
}

// 900 us of loading and 100 us of launching against 200 us of kernels.
TEST(ReplayTest, WithoutTheWaitTheGpuSetsThePace) {
  PlayedOnce played(900 * kUs);
  const std::vector<TimeNs> lengths = played.Run(Scenario::Without(IdleCause::kDataWait));
  // Handing over takes a twentieth of the wait, 45 us: less than the GPU's lead.
  EXPECT_EQ(lengths.back(), 200 * kUs + kSwitchNs);
}

TEST(ReplayTest, ScenariosWithoutSuchTimeChangeNothing) {
  PlayedOnce played(900 * kUs);
  for (const IdleCause cause : {IdleCause::kAllocator, IdleCause::kGc, IdleCause::kCheckpoint})
    EXPECT_EQ(played.Run(Scenario::Without(cause)), played.Run({}));
  Scenario silent;
  silent.without_communication = true;
  EXPECT_EQ(played.Run(silent), played.Run({}));
}

TEST(ReplayTest, WithoutLaunchingTheLoaderSetsThePace) {
  PlayedOnce played(900 * kUs);
  Scenario launching;
  launching.without_launching = true;
  EXPECT_EQ(played.Run(launching).back(), 900 * kUs);
}

// Ten launches of 10 us of which the recorder takes 2, and 50 us of loading against 20 us of
// kernels a launch: the GPU sets the pace, and goes on doing so.
TEST(ReplayTest, TheRecorderCostsNothingBehindTheGpu) {
  PlayedOnce played(50 * kUs);
  Scenario unrecorded;
  unrecorded.recorder_ns = 2 * kUs;
  const std::vector<TimeNs> lengths = played.Run(unrecorded), recorded = played.Run({});
  EXPECT_EQ(std::accumulate(lengths.begin() + 1, lengths.end(), TimeNs{0}),
            std::accumulate(recorded.begin() + 1, recorded.end(), TimeNs{0}));
}

// 900 us of loading and 100 us of launching are the step; ten times 2 us of it are the recorder's.
TEST(ReplayTest, TheRecorderIsTakenOffWhereTheHostSetsThePace) {
  PlayedOnce played(900 * kUs);
  Scenario unrecorded;
  unrecorded.recorder_ns = 2 * kUs;
  EXPECT_EQ(played.Run({}).back() - played.Run(unrecorded).back(), 10 * 2 * kUs);
}

// A step of launches, then a program that is saved: it waits 1 ms for the GPU, and writes for 5 ms.
TEST(ReplayTest, SavingWaitsForTheGpuHoweverEarlyItBegins) {
  RankBuilder builder;
  TimeNs host = 0, gpu = 0;
  for (int step = 0; step < 10; ++step) {
    for (int k = 0; k < 10; ++k) {
      const std::uint32_t call = builder.AddApi(host, host + 4 * kUs, "cudaLaunchKernel");
      const TimeNs start = std::max(gpu, host + 6 * kUs);
      gpu = start + 110 * kUs;
      builder.AddKernel(start, gpu, kGemm, call);
      host += 10 * kUs;
    }
    const std::uint32_t copy = builder.AddApi(host + kUs, gpu + 22 * kUs, "cudaMemcpyAsync");
    builder.AddCopy(gpu, gpu + 20 * kUs, {.bytes = 4, .kind = 2, .src_kind = 3, .dst_kind = 1},
                    copy);
    gpu += 20 * kUs;
    builder.AddSpan(host, gpu + 5'000 * kUs, HostSpanKind::kCheckpoint);
    host = gpu + 5'000 * kUs;
    builder.AddStepMark(host);
  }
  builder.rank().end = host;
  const Device& device = builder.rank().devices[0];
  const Steps steps =
      FindSteps(builder.rank(), device, {device.ops.start.front(), device.ops.end.back()});
  const HostTimeline timeline = BuildHostTimeline(builder.rank(), device);
  const GapCauses causes = SplitSteps(builder.rank(), device, timeline, steps);
  const Replay replay(builder.rank(), device, timeline, causes, steps);
  Scenario unrecorded;
  unrecorded.recorder_ns = 9 * kUs;
  const TimeNs recorded_ns = replay.Run({}).back();
  EXPECT_EQ(recorded_ns, steps.steps.back().length_ns());
  EXPECT_EQ(replay.Run(unrecorded).back(), recorded_ns);
}

}  // namespace
}  // namespace traceinject
