// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/gpu_states.h"

#include <gtest/gtest.h>

#include <array>

#include "analyzer/metrics/idle/partition.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

class GpuStatesTest : public testing::Test {
 protected:
  // Steps in which all kinds of work overlap, and the host is late.
  GpuStatesTest() {
    Transfer upload;
    upload.bytes = 4096;
    for (int step = 0; step < 20; ++step) {
      const TimeNs start = step * 1'000 * kUs;
      const auto launch = builder_.AddApi(start + 100 * kUs, start + 105 * kUs, "cudaLaunchKernel");
      builder_.AddCopy(start + 110 * kUs, start + 300 * kUs, upload, launch);
      builder_.AddKernel(start + 200 * kUs, start + 400 * kUs, "gemm", launch);
      builder_.AddKernel(start + 350 * kUs, start + 600 * kUs, "ncclDevKernel_AllReduce", launch);
      builder_.AddCopy(start + 550 * kUs, start + 700 * kUs, upload, launch);
      builder_.AddStepMark(start + 120 * kUs);
    }
    builder_.ops().unrecorded = {{750 * kUs, 800 * kUs}};
    judged_ =
        FindStepsAndTimeline(builder_.rank(), builder_.rank().devices.front(), {kSpan, false});
  }

  static constexpr Interval kSpan{0, 20'000 * kUs};
  RankBuilder builder_;
  DeviceAnalysis judged_;
};

TEST_F(GpuStatesTest, AddUpToThePartition) {
  std::array<TimeNs, kGpuStates> sums{};
  TimeNs now = kSpan.start;
  for (const GpuStretch& one : GpuStatesIn(judged_, kSpan)) {
    EXPECT_EQ(one.time.start, now) << "nothing is left out, nothing counts twice";
    now = one.time.end;
    sums[one.state] += one.time.end - one.time.start;
  }
  EXPECT_EQ(now, kSpan.end);
  const Partition partition = PartitionOf(judged_.device->ops, kSpan);
  EXPECT_EQ(sums[kStateCompute], partition.compute_ns);
  EXPECT_EQ(sums[kStateCommunication], partition.exposed_communication_ns);
  EXPECT_EQ(sums[kStateCopies], partition.exposed_copy_ns);
  EXPECT_EQ(sums[kStateUnrecorded], partition.unrecorded_ns);
  EXPECT_GT(partition.idle_ns, 0);
}

TEST_F(GpuStatesTest, ASweepClipsToItsTimes) {
  const std::vector<GpuStretch> states = GpuStatesIn(judged_, kSpan);
  GpuStateSweep sweep(states);
  std::array<TimeNs, kGpuStates> sums{};
  for (const Interval& time : {Interval{390 * kUs, 410 * kUs}, Interval{1'250 * kUs, 1'251 * kUs}})
    sweep.ForEach(time, [&](std::uint8_t state, TimeNs ns) { sums[state] += ns; });
  EXPECT_EQ(sums[kStateCompute], 11 * kUs);
  EXPECT_EQ(sums[kStateCommunication], 10 * kUs);
}

TEST(GpuStates, AreNamedAsThePartsOfAStep) {
  EXPECT_EQ(GpuStateName(kStateCompute), "compute");
  EXPECT_EQ(GpuStateName(kStateIdle), "idle: data wait");
  EXPECT_EQ(GpuStateName(kGpuStates - 1), "idle: unknown");
}

}  // namespace
}  // namespace traceinject
