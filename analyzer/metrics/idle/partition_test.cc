// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/partition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kCompute = "ampere_sgemm_128x64_nn";
constexpr const char* kNccl =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

TEST(PartitionTest, HandMadeRun) {
  RankBuilder builder;
  builder.AddKernel(0, 100, kCompute);
  builder.AddKernel(50, 120, kCompute);                // a second stream: compute is [0, 120)
  builder.AddKernel(110, 200, kNccl);                  // exposed [120, 200)
  builder.AddCopy(190, 230, {.bytes = 8, .kind = 1});  // exposed [200, 230)
  builder.AddMemset(220, 240, 8);                      // [230, 240)
  builder.AddKernel(300, 400, kCompute);
  const Partition p = PartitionOf(builder.ops(), {0, 400});
  EXPECT_EQ(p.wall_ns, 400);
  EXPECT_EQ(p.compute_ns, 220);
  EXPECT_EQ(p.exposed_communication_ns, 80);
  EXPECT_EQ(p.exposed_copy_ns, 40);
  EXPECT_EQ(p.idle_ns, 60);
  EXPECT_EQ(p.busy_ns(), 340);
  EXPECT_EQ(p.communication_ns, 90);
  EXPECT_EQ(p.overlapped_communication_ns, 10);
  EXPECT_EQ(p.copy_ns, 50);
  EXPECT_DOUBLE_EQ(*p.communication_to_compute(), 90.0 / 220);
  EXPECT_DOUBLE_EQ(*p.overlap_share(), 10.0 / 90);
}

TEST(PartitionTest, CopiesOfTheCopyEnginesAreCommunication) {
  RankBuilder builder;
  builder.AddKernel(0, 100, kCompute);
  builder.AddCopy(50, 150, {.bytes = 8, .kind = 8});
  GpuOps ops = builder.ops();
  ops.kernel_class[1] = KernelClass::kComm;
  const Partition p = PartitionOf(ops, {0, 200});
  EXPECT_EQ(p.exposed_communication_ns, 50);
  EXPECT_EQ(p.communication_ns, 100);
  EXPECT_EQ(p.copy_ns, 0);
}

TEST(PartitionTest, OperationsAreClippedToTheWindow) {
  RankBuilder builder;
  builder.AddKernel(0, 100, kCompute);
  builder.AddKernel(100, 300, kNccl);
  const Partition p = PartitionOf(builder.ops(), {90, 150});
  EXPECT_EQ(p.compute_ns, 10);
  EXPECT_EQ(p.exposed_communication_ns, 50);
  EXPECT_EQ(p.idle_ns, 0);
}

TEST(PartitionTest, RatiosAreUnknownWithoutTheirParts) {
  RankBuilder builder;
  builder.AddCopy(0, 10, {.bytes = 1, .kind = 1});
  const Partition p = PartitionOf(builder.ops(), {0, 10});
  EXPECT_FALSE(p.communication_to_compute());
  EXPECT_FALSE(p.overlap_share());
}

// What the definitions say, one nanosecond at a time.
Partition BruteForce(const GpuOps& ops, Interval window) {
  Partition p;
  p.wall_ns = window.end - window.start;
  for (TimeNs t = window.start; t < window.end; ++t) {
    bool compute = false, communication = false, copy = false;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops.start[i] > t || ops.end[i] <= t) continue;
      const bool kernel = ops.kind[i] == OpKind::kKernel;
      const bool comm = kernel && ops.kernel_class[i] == KernelClass::kComm;
      compute |= kernel && !comm;
      communication |= comm;
      copy |= !kernel;
    }
    p.compute_ns += compute;
    p.communication_ns += communication;
    p.overlapped_communication_ns += communication && compute;
    p.copy_ns += copy;
    p.exposed_communication_ns += communication && !compute;
    p.exposed_copy_ns += copy && !compute && !communication;
    p.idle_ns += !compute && !communication && !copy;
  }
  return p;
}

RankBuilder RandomRun(std::mt19937& random) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  RankBuilder builder;
  TimeNs start = pick(-50, 50);
  for (int i = pick(1, 40); i > 0; --i) {
    const TimeNs end = start + pick(0, 30);
    switch (pick(0, 3)) {
      case 0:
        builder.AddKernel(start, end, kNccl);
        break;
      case 1:
        builder.AddCopy(start, end, {.bytes = 1, .kind = 1});
        break;
      case 2:
        builder.AddMemset(start, end, 1);
        break;
      default:
        builder.AddKernel(start, end, kCompute);
    }
    start += pick(0, 15);
  }
  return builder;
}

TEST(PartitionTest, AgreesWithBruteForceAndSumsExactlyOnRandomRuns) {
  std::mt19937 random(20260801);
  for (int i = 0; i < 1000; ++i) {
    RankBuilder builder = RandomRun(random);
    const TimeNs from = std::uniform_int_distribution<int>(-60, 200)(random);
    const Interval window{from, from + std::uniform_int_distribution<int>(1, 400)(random)};
    const Partition p = PartitionOf(builder.ops(), window),
                    truth = BruteForce(builder.ops(), window);
    ASSERT_EQ(p.compute_ns + p.exposed_communication_ns + p.exposed_copy_ns + p.idle_ns,
              window.end - window.start);
    ASSERT_EQ(p.compute_ns, truth.compute_ns) << "run " << i;
    ASSERT_EQ(p.exposed_communication_ns, truth.exposed_communication_ns) << "run " << i;
    ASSERT_EQ(p.exposed_copy_ns, truth.exposed_copy_ns) << "run " << i;
    ASSERT_EQ(p.idle_ns, truth.idle_ns) << "run " << i;
    ASSERT_EQ(p.communication_ns, truth.communication_ns) << "run " << i;
    ASSERT_EQ(p.overlapped_communication_ns, truth.overlapped_communication_ns) << "run " << i;
    ASSERT_EQ(p.copy_ns, truth.copy_ns) << "run " << i;
  }
}

TEST(PartitionTest, PercentagesSumTo100) {
  Partition p;
  p.wall_ns = 3;
  p.compute_ns = p.exposed_communication_ns = p.idle_ns = 1;
  const auto thirds = RoundedPercentages(p);
  EXPECT_DOUBLE_EQ(thirds[0], 33.334);
  EXPECT_DOUBLE_EQ(thirds[1], 33.333);
  EXPECT_DOUBLE_EQ(thirds[2], 0);
  EXPECT_DOUBLE_EQ(thirds[3], 33.333);

  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    std::uniform_int_distribution<TimeNs> part(0, TimeNs{1} << (i % 56));
    Partition any;
    any.compute_ns = part(random);
    any.exposed_communication_ns = part(random);
    any.exposed_copy_ns = part(random);
    any.idle_ns = part(random) + 1;
    const TimeNs whole =
        any.compute_ns + any.exposed_communication_ns + any.exposed_copy_ns + any.idle_ns;
    const auto percent = RoundedPercentages(any);
    long long thousandths = 0;
    for (const double v : percent) thousandths += std::llround(v * 1000);
    ASSERT_EQ(thousandths, 100'000);
    ASSERT_NEAR(percent[0],
                100.0 * static_cast<double>(any.compute_ns) / static_cast<double>(whole), 0.001);
  }
}

TEST(PartitionTest, EmptyWindowHasNoPercentages) {
  for (const double v : RoundedPercentages(Partition{})) EXPECT_EQ(v, 0);
}

}  // namespace
}  // namespace traceinject
