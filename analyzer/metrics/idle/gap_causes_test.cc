// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/gap_causes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "analyzer/metrics/idle/host_load.h"
#include "analyzer/metrics/idle/launch_latency.h"
#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

GapCauses CausesOf(Rank& rank) {
  const Device& device = rank.devices[0];
  const Interval window{device.ops.start.front(),
                        *std::max_element(device.ops.end.begin(), device.ops.end.end())};
  return SplitSteps(rank, device, BuildHostTimeline(rank, device), FindSteps(rank, device, window));
}

// Idle time by cause of a rank without steps; what is not named must be 0.
void ExpectIdle(Rank& rank, const std::vector<std::pair<IdleCause, TimeNs>>& expected) {
  const StepSplit split = CausesOf(rank).steps.at(0);
  std::array<TimeNs, kIdleCauses> wanted{};
  for (const auto& [cause, ns] : expected) wanted[static_cast<std::size_t>(cause)] = ns;
  for (std::size_t i = 0; i < kIdleCauses; ++i)
    EXPECT_EQ(split.idle_ns[i], wanted[i]) << IdleCauseName(static_cast<IdleCause>(i));
}

// Kernels [0, 100) us and [1000, 1100) us; the second is launched at 990 us.
class GapTest : public testing::Test {
 protected:
  void First() {
    builder_.AddKernel(0, 100 * kUs, kGemm,
                       builder_.AddApi(-20 * kUs, -15 * kUs, "cudaLaunchKernel"));
  }
  void Second(TimeNs launched = 990 * kUs) {
    builder_.AddKernel(1000 * kUs, 1100 * kUs, kGemm,
                       builder_.AddApi(launched, launched + 5 * kUs, "cudaLaunchKernel"));
  }
  RankBuilder builder_;
};

TEST_F(GapTest, NothingInParticularIsPythonAndLaunchLatency) {
  First();
  builder_.AddApi(300 * kUs, 305 * kUs, "cudaLaunchKernel");
  Second();
  ExpectIdle(builder_.rank(), {{IdleCause::kPython, 885 * kUs}, {IdleCause::kLaunch, 15 * kUs}});
}

// The kernel in between ends 4 us before the second one, which was launched 6 us before its start.
TEST_F(GapTest, OnItsWayIsLaunchLatency) {
  First();
  builder_.AddKernel(101 * kUs, 996 * kUs, kGemm,
                     builder_.AddApi(-10 * kUs, -5 * kUs, "cudaLaunchKernel"));
  Second(994 * kUs);
  ExpectIdle(builder_.rank(), {{IdleCause::kQueued, kUs}, {IdleCause::kLaunch, 4 * kUs}});
}

TEST_F(GapTest, DataWait) {
  First();
  builder_.AddDataWait(50 * kUs, 700 * kUs);
  Second();
  ExpectIdle(builder_.rank(), {{IdleCause::kDataWait, 600 * kUs},
                               {IdleCause::kPython, 290 * kUs},
                               {IdleCause::kLaunch, 10 * kUs}});
}

TEST_F(GapTest, SyncThatWaitedForTheGpuExplainsWhatFollows) {
  First();
  builder_.AddApi(20 * kUs, 110 * kUs, "cudaStreamSynchronize");
  Second();
  ExpectIdle(builder_.rank(),
             {{IdleCause::kSync, 10 * kUs}, {IdleCause::kDrainedBySync, 890 * kUs}});
}

TEST_F(GapTest, SyncOfAnIdleGpuExplainsOnlyItself) {
  First();
  builder_.AddApi(200 * kUs, 220 * kUs, "cudaStreamSynchronize");
  Second();
  ExpectIdle(builder_.rank(), {{IdleCause::kSync, 20 * kUs},
                               {IdleCause::kPython, 870 * kUs},
                               {IdleCause::kLaunch, 10 * kUs}});
}

TEST_F(GapTest, ItemIsACopyThatBlocks) {
  First();
  const std::uint32_t copy = builder_.AddApi(10 * kUs, 112 * kUs, "cudaMemcpyAsync");
  builder_.AddCopy(100 * kUs, 110 * kUs, {.bytes = 4, .kind = 2, .src_kind = 3, .dst_kind = 1},
                   copy);
  builder_.AddApi(113 * kUs, 116 * kUs, "cudaStreamSynchronize");
  Second();
  ExpectIdle(builder_.rank(),
             {{IdleCause::kSync, 5 * kUs}, {IdleCause::kDrainedBySync, 885 * kUs}});
}

TEST_F(GapTest, FreeDrainsAsASyncDoes) {
  First();
  builder_.AddApi(20 * kUs, 400 * kUs, "cudaFree");
  Second();
  ExpectIdle(builder_.rank(), {{IdleCause::kAllocator, 900 * kUs}});
}

TEST_F(GapTest, CollectionInsideACheckpointInsideNothing) {
  First();
  builder_.AddSpan(150 * kUs, 700 * kUs, HostSpanKind::kCheckpoint);
  builder_.AddSpan(200 * kUs, 300 * kUs, HostSpanKind::kGarbageCollection, 2);
  Second();
  ExpectIdle(builder_.rank(), {{IdleCause::kCheckpoint, 450 * kUs},
                               {IdleCause::kGc, 100 * kUs},
                               {IdleCause::kPython, 340 * kUs},
                               {IdleCause::kLaunch, 10 * kUs}});
}

// Between two operations that are 9 ms apart; of which the thread that launches computes a share.
class SilenceTest : public GapTest, public testing::WithParamInterface<double> {};

TEST_P(SilenceTest, IsAWaitUnlessTheHostComputes) {
  builder_.AddKernel(0, 100 * kUs, kGemm,
                     builder_.AddApi(-20 * kUs, -15 * kUs, "cudaLaunchKernel"));
  builder_.AddKernel(9000 * kUs, 9100 * kUs, kGemm,
                     builder_.AddApi(8990 * kUs, 8995 * kUs, "cudaLaunchKernel"));
  const double load = GetParam();
  HostSamples& samples = builder_.rank().host_samples;
  for (const TimeNs time : {TimeNs{0}, 9000 * kUs}) {
    samples.time.push_back(time);
    samples.thread.push_back(0);
    samples.cpu_ns.push_back(std::llround(load * static_cast<double>(time)));
  }
  const IdleCause expected = load >= kComputingLoad ? IdleCause::kPython : IdleCause::kHostWait;
  ExpectIdle(builder_.rank(), {{expected, 8890 * kUs}, {IdleCause::kLaunch, 10 * kUs}});
}
INSTANTIATE_TEST_SUITE_P(Gap, SilenceTest, testing::Values(0.1, 0.8, 0.95, 1));

// The device is busy for 12 ms, the host waits for it and then does something for 3 ms.
class SilenceAfterAWaitTest : public GapTest, public testing::WithParamInterface<bool> {};

TEST_P(SilenceAfterAWaitTest, IsTheWaitsWhereStacksTellWhatTheHostDid) {
  builder_.AddKernel(0, 12'000 * kUs, kGemm,
                     builder_.AddApi(-20 * kUs, -15 * kUs, "cudaLaunchKernel"));
  builder_.AddApi(10 * kUs, 12'010 * kUs, "cudaStreamSynchronize");
  builder_.AddKernel(15'010 * kUs, 16'000 * kUs, kGemm,
                     builder_.AddApi(15'000 * kUs, 15'005 * kUs, "cudaLaunchKernel"));
  if (GetParam())
    builder_.AddLook(13'000 * kUs, builder_.AddStack({{"prepare", "/w/train.py", 4}}));
  if (GetParam())
    ExpectIdle(builder_.rank(),
               {{IdleCause::kSync, 10 * kUs}, {IdleCause::kDrainedBySync, 3'000 * kUs}});
  else
    ExpectIdle(builder_.rank(), {{IdleCause::kSync, 10 * kUs},
                                 {IdleCause::kHostWait, 2'990 * kUs},
                                 {IdleCause::kDrainedBySync, 10 * kUs}});
}
INSTANTIATE_TEST_SUITE_P(Gap, SilenceAfterAWaitTest, testing::Bool());

TEST_F(GapTest, LaunchedInTimeIsTheDevicesOwn) {
  First();
  Second(90 * kUs);
  ExpectIdle(builder_.rank(), {{IdleCause::kQueued, 900 * kUs}});
}

TEST_F(GapTest, QueuedCommunicationAndCopies) {
  First();
  const std::uint32_t reduce = builder_.AddApi(20 * kUs, 25 * kUs, "cudaLaunchKernel");
  const std::uint32_t copy = builder_.AddApi(30 * kUs, 35 * kUs, "cudaMemcpyAsync");
  builder_.AddKernel(150 * kUs, 200 * kUs, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", reduce);
  builder_.AddCopy(230 * kUs, 300 * kUs, {.bytes = 1, .kind = 1, .src_kind = 2, .dst_kind = 3},
                   copy);
  ExpectIdle(builder_.rank(),
             {{IdleCause::kCommunication, 50 * kUs}, {IdleCause::kCopy, 30 * kUs}});
}

TEST_F(GapTest, PageableCopyIsPreparedByTheHost) {
  First();
  const std::uint32_t copy = builder_.AddApi(150 * kUs, 600 * kUs, "cudaMemcpyAsync");
  builder_.AddCopy(400 * kUs, 600 * kUs, {.bytes = 1, .kind = 1, .src_kind = 1, .dst_kind = 3},
                   copy);
  ExpectIdle(builder_.rank(), {{IdleCause::kPython, 50 * kUs}, {IdleCause::kCopy, 250 * kUs}});
}

TEST_F(GapTest, UnknownLaunch) {
  First();
  builder_.AddKernel(1000 * kUs, 1100 * kUs, kGemm);
  ExpectIdle(builder_.rank(), {{IdleCause::kUnknown, 900 * kUs}});
}

TEST_F(GapTest, ThreadsThatLaunchNothingAreNoCause) {
  First();
  builder_.AddApi(20 * kUs, 980 * kUs, "cudaEventSynchronize", 1);
  Second();
  ExpectIdle(builder_.rank(), {{IdleCause::kPython, 890 * kUs}, {IdleCause::kLaunch, 10 * kUs}});
}

// A run without sense: whatever was recorded, the parts add up.
Rank RandomRank(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](TimeNs n) {
    return static_cast<TimeNs>(random() % static_cast<std::uint64_t>(n));
  };
  RankBuilder builder;
  builder.rank().streams.push_back({0, 1, 8});
  const char* const calls[] = {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize",
                               "cudaFree",         "cudaMalloc",      "cudaGraphLaunch"};
  TimeNs host = 0, gpu = 0;
  const int count = 50 + static_cast<int>(below(200));
  for (int i = 0; i < count; ++i) {
    host += below(40'000);
    const TimeNs long_call = below(10) == 0 ? below(3'000'000) : below(20'000);
    const std::uint32_t call = builder.AddApi(host, host + long_call, calls[below(6)],
                                              static_cast<std::uint32_t>(below(2)));
    if (below(4) == 0) host += long_call;
    if (below(30) == 0) builder.AddDataWait(host, host + below(4'000'000));
    if (below(30) == 0) builder.AddSpan(host, host + below(2'000'000), HostSpanKind::kCheckpoint);
    if (below(30) == 0)
      builder.AddSpan(host, host + below(500'000), HostSpanKind::kGarbageCollection, 1);
    if (below(20) == 0) builder.AddStepMark(host);
    if (below(8) == 0) continue;
    gpu += below(60'000);  // sometimes before its launch, sometimes overlapping
    const TimeNs end = gpu + below(50'000);
    const std::uint32_t launch = below(10) == 0 ? kNone : call;
    builder.UseStream(static_cast<std::uint32_t>(below(2)));
    switch (below(4)) {
      case 0:
        builder.AddCopy(gpu, end,
                        {.bytes = 100,
                         .kind = static_cast<std::uint8_t>(1 + below(2)),
                         .src_kind = static_cast<std::uint8_t>(below(4)),
                         .dst_kind = 3},
                        launch);
        break;
      case 1:
        builder.AddKernel(gpu, end, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", launch);
        break;
      default:
        builder.AddKernel(gpu, end, kGemm, launch);
    }
  }
  builder.rank().end = std::max(host, gpu) + 1'000'000;
  return builder.rank();
}

TEST(GapCausesTest, PartsOfRandomRunsAddUpToTheNanosecond) {
  std::size_t with_steps = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rank rank = RandomRank(seed);
    const Device& device = rank.devices[0];
    if (device.ops.size() == 0) continue;
    const Interval window{device.ops.start.front(),
                          *std::max_element(device.ops.end.begin(), device.ops.end.end())};
    const Steps steps = FindSteps(rank, device, window);
    const GapCauses causes = SplitSteps(rank, device, BuildHostTimeline(rank, device), steps);
    ASSERT_EQ(causes.steps.size(), steps.steps.size());
    with_steps += steps.source == StepSource::kMarks ? 1 : 0;
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
      const StepSplit& split = causes.steps[i];
      const Partition& p = split.partition;
      ASSERT_EQ(p.wall_ns, steps.steps[i].length_ns()) << seed;
      ASSERT_EQ(p.compute_ns + p.exposed_communication_ns + p.exposed_copy_ns + p.idle_ns,
                p.wall_ns)
          << seed;
      ASSERT_EQ(std::accumulate(split.idle_ns.begin(), split.idle_ns.end(), TimeNs{0}), p.idle_ns)
          << seed << " step " << i;
      const Partition alone = PartitionOf(device.ops, steps.steps[i].time);
      ASSERT_EQ(alone.compute_ns, p.compute_ns) << seed;
      ASSERT_EQ(alone.exposed_copy_ns, p.exposed_copy_ns) << seed;
      ASSERT_EQ(alone.idle_ns, p.idle_ns) << seed;
    }
  }
  EXPECT_GT(with_steps, 100U);
}

TEST_F(GapTest, PiecesLieWhereTheirCauseWas) {
  First();
  builder_.AddDataWait(50 * kUs, 700 * kUs);
  Second();
  const Rank& rank = builder_.rank();
  const Device& device = rank.devices[0];
  const Interval window{0, 1200 * kUs};
  const std::vector<IdlePiece> pieces = ExplainIdle(rank, device, BuildHostTimeline(rank, device),
                                                    FindSteps(rank, device, window), window);
  ASSERT_EQ(pieces.size(), 4U);
  const auto expect = [&](std::size_t i, TimeNs start, TimeNs end, IdleCause cause,
                          std::uint32_t ended_by) {
    EXPECT_EQ(pieces[i].time.start, start * kUs) << i;
    EXPECT_EQ(pieces[i].time.end, end * kUs) << i;
    EXPECT_EQ(pieces[i].cause, cause) << i;
    EXPECT_EQ(pieces[i].ended_by, ended_by) << i;
  };
  expect(0, 100, 700, IdleCause::kDataWait, 1);
  expect(1, 700, 990, IdleCause::kPython, 1);
  expect(2, 990, 1000, IdleCause::kLaunch, 1);
  expect(3, 1100, 1200, IdleCause::kUnknown, kNone);
}

TEST(GapCausesTest, PiecesOfRandomRunsAreTheIdleTimeOfTheSteps) {
  std::size_t with_steps = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Rank rank = RandomRank(seed);
    const Device& device = rank.devices[0];
    if (device.ops.size() == 0) continue;
    const Interval window{device.ops.start.front(),
                          *std::max_element(device.ops.end.begin(), device.ops.end.end())};
    const Steps steps = FindSteps(rank, device, window);
    const HostTimeline timeline = BuildHostTimeline(rank, device);
    const GapCauses causes = SplitSteps(rank, device, timeline, steps);
    // A step without operations can end after the last operation.
    const Interval all{window.start, std::max(window.end, steps.cuts().back())};
    const std::vector<IdlePiece> pieces = ExplainIdle(rank, device, timeline, steps, all);
    TimeNs done = window.start;
    for (const IdlePiece& piece : pieces) {
      ASSERT_GE(piece.time.start, done) << seed;
      ASSERT_LT(piece.time.start, piece.time.end) << seed;
      done = piece.time.end;
    }
    ASSERT_LE(done, all.end);
    // Not the first: what ran before the first step is not known to a walk that begins there.
    for (std::size_t step = 1; step < steps.steps.size(); ++step) {
      std::array<TimeNs, kIdleCauses> idle{};
      for (const IdlePiece& piece : pieces) {
        idle[static_cast<std::size_t>(piece.cause)] +=
            std::max<TimeNs>(0, std::min(piece.time.end, steps.steps[step].time.end) -
                                    std::max(piece.time.start, steps.steps[step].time.start));
      }
      ASSERT_EQ(idle, causes.steps[step].idle_ns) << seed << " step " << step;
      ++with_steps;
    }
  }
  EXPECT_GT(with_steps, 300U);
}

TEST(GapCausesTest, QueuedTimeIsThatOfThePiecesLaunchedLongBefore) {
  TimeNs queued_ns = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Rank rank = RandomRank(seed);
    const GpuOps& ops = rank.devices[0].ops;
    if (ops.size() == 0) continue;
    const Interval window{ops.start.front(), *std::max_element(ops.end.begin(), ops.end.end())};
    const TimeNs ahead_ns = static_cast<TimeNs>(seed % 3) * 10 * kUs;
    const TimeNs third_ns = (window.end - window.start) / 3;
    const Intervals within = {{window.start, window.start + third_ns},
                              {window.end - third_ns, window.end}};
    TimeNs expected_ns = 0;
    for (const IdlePiece& piece :
         ExplainIdle(rank, rank.devices[0], BuildHostTimeline(rank, rank.devices[0]),
                     FindSteps(rank, rank.devices[0], window), window)) {
      if (piece.cause == IdleCause::kQueued &&
          ops.start[piece.ended_by] - rank.api.start[ops.launch[piece.ended_by]] >= ahead_ns)
        expected_ns += LengthInside(within, piece.time);
    }
    ASSERT_EQ(QueuedTime(rank, ops, UsualLatency(rank.api, ops), window, ahead_ns, within),
              expected_ns)
        << seed;
    queued_ns += expected_ns;
  }
  EXPECT_GT(queued_ns, 0);
}

TEST(HostTimelineTest, SegmentsAreDisjointAndInOrder) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Rank rank = RandomRank(seed);
    const HostTimeline timeline = BuildHostTimeline(rank, rank.devices[0]);
    for (std::size_t i = 0; i < timeline.segments.size(); ++i) {
      ASSERT_LT(timeline.segments[i].time.start, timeline.segments[i].time.end);
      if (i == 0) continue;
      ASSERT_LE(timeline.segments[i - 1].time.end, timeline.segments[i].time.start);
    }
  }
}

}  // namespace
}  // namespace traceinject
