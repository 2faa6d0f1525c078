// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/differences/work_differences.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/ranks/summary/summarise_rank.h"

namespace traceinject {
namespace {

using Kind = KernelDifference::Kind;

constexpr std::int64_t kSteps = 10;
const WorkShape kSquare{{4096, 4096, 4096, 1}, {}};
const WorkShape kFlat{{16, 4096, 4096, 1}, {}};

ShapeFacts Shape(const WorkShape& shape, std::int64_t a_step, TimeNs each_ns,
                 std::vector<LineFacts> lines = {}) {
  for (LineFacts& line : lines) line.ns *= kSteps;
  return {shape, kSteps * a_step, kSteps * a_step * each_ns, std::move(lines)};
}

KernelFacts Kernel(const std::string& name, std::vector<ShapeFacts> shapes) {
  KernelFacts facts;
  facts.name = name;
  for (const ShapeFacts& shape : shapes) {
    facts.count += shape.count;
    facts.total_ns += shape.total_ns;
  }
  facts.shapes = std::move(shapes);
  return facts;
}

class WorkDifferencesTest : public testing::Test {
 protected:
  std::size_t Add(std::vector<KernelFacts> kernels) {
    RankSummary summary;
    summary.steps.resize(kSteps);
    summary.kernels = std::move(kernels);
    job_.ranks.push_back(std::move(summary));
    return job_.ranks.size() - 1;
  }
  std::vector<KernelDifference> Compare(std::vector<std::size_t> peers = {0}) const {
    return CompareKernels(job_, job_.ranks.size() - 1, peers, 1e5);
  }

  Job job_;
};

TEST_F(WorkDifferencesTest, MoreLaunchesOfOneShapeAndTheirLine) {
  Add({Kernel("gemm", {Shape(kSquare, 2, kMs, {{"a.py:1", 2 * kMs}}), Shape(kFlat, 9, 100 * kUs)}),
       Kernel("add", {Shape({}, 5, 40 * kUs)})});
  Add({Kernel("gemm", {Shape(kSquare, 6, kMs, {{"a.py:41", 3 * kMs}, {"a.py:1", 3 * kMs}}),
                       Shape(kFlat, 9, 102 * kUs)}),
       Kernel("add", {Shape({}, 5, 41 * kUs)})});
  const auto found = Compare();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::kMore);
  EXPECT_EQ(found[0].kernel, "gemm");
  EXPECT_EQ(found[0].shape, kSquare);
  EXPECT_DOUBLE_EQ(found[0].count, 6);
  EXPECT_DOUBLE_EQ(found[0].peers_count, 2);
  EXPECT_DOUBLE_EQ(found[0].more_ns, 4 * kMs);
  EXPECT_EQ(found[0].place, "a.py:41");
}

TEST_F(WorkDifferencesTest, TheSameLaunchesThatTakeLonger) {
  Add({Kernel("gemm", {Shape(kSquare, 2, kMs)})});
  Add({Kernel("gemm", {Shape(kSquare, 2, 2 * kMs)})});
  const auto found = Compare();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::kSlower);
  EXPECT_DOUBLE_EQ(found[0].ratio, 2);
  EXPECT_EQ(found[0].place, "") << "no stacks were recorded";
}

// The peers have as many on less data, so that what is more is the difference of the two.
TEST_F(WorkDifferencesTest, LargerLaunchesInPlaceOfOthers) {
  Add({Kernel("gemm", {Shape(kFlat, 10, 300 * kUs)})});
  Add({Kernel("gemm", {Shape(kSquare, 10, 500 * kUs)})});
  const auto found = Compare();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::kLarger);
  EXPECT_EQ(found[0].shape, kSquare);
  EXPECT_EQ(found[0].peers_shape, kFlat);
  EXPECT_DOUBLE_EQ(found[0].more_ns, 2 * kMs);
}

TEST_F(WorkDifferencesTest, AKernelThatNoPeerHas) {
  Add({Kernel("gemm", {Shape(kSquare, 2, kMs)})});
  Add({Kernel("extra", {Shape(kFlat, 3, kMs)}), Kernel("gemm", {Shape(kSquare, 2, kMs)})});
  const auto found = Compare();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kernel, "extra");
  EXPECT_DOUBLE_EQ(found[0].ratio, 0);
  EXPECT_DOUBLE_EQ(found[0].peers_count, 0);
}

TEST_F(WorkDifferencesTest, OneOddPeerDoesNotHideIt) {
  Add({Kernel("gemm", {Shape(kSquare, 2, kMs)})});
  Add({Kernel("gemm", {Shape(kSquare, 9, kMs)})});
  Add({Kernel("gemm", {Shape(kSquare, 2, kMs)})});
  Add({Kernel("gemm", {Shape(kSquare, 4, kMs)})});
  const auto found = Compare({0, 1, 2});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].more_ns, 2 * kMs);
}

TEST_F(WorkDifferencesTest, TheThreeLargest) {
  std::vector<KernelFacts> usual, more;
  for (int i = 1; i <= 5; ++i) {
    usual.push_back(Kernel(fmt::format("k{}", i), {Shape(kFlat, 1, kMs)}));
    more.push_back(Kernel(fmt::format("k{}", i), {Shape(kFlat, 1 + i, kMs)}));
  }
  Add(usual);
  Add(more);
  const auto found = Compare();
  ASSERT_EQ(found.size(), kMaxDifferences);
  EXPECT_EQ(found[0].kernel, "k5");
  EXPECT_EQ(found[2].kernel, "k3");
}

// What a full list leaves out may be as long as the least in it.
TEST_F(WorkDifferencesTest, WhatAPeerDoesNotListIsNotNothing) {
  std::vector<KernelFacts> listed;
  for (std::size_t i = 0; i < kMaxKernelFacts; ++i)
    listed.push_back(Kernel(fmt::format("k{}", i), {Shape(kFlat, 1, kMs)}));
  Add(listed);
  Add({Kernel("other", {Shape(kFlat, 1, kMs + 50 * kUs)})});
  EXPECT_TRUE(Compare().empty());
}

TEST_F(WorkDifferencesTest, LinesOfTheHost) {
  Add({});
  Add({});
  job_.ranks[0].host_lines = {{"a.py:1", 9 * kMs}, {"a.py:2", 2 * kMs}};
  job_.ranks[1].host_lines = {{"a.py:2", 8 * kMs}, {"a.py:1", 3 * kMs}, {"a.py:3", 50 * kUs}};
  job_.ranks[1].worker_lines = {{"w.py:5", 4 * kMs}};
  const auto found = CompareLines(job_, 1, {0}, false, 1e5);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].place, "a.py:2");
  EXPECT_DOUBLE_EQ(found[0].more_ns(), 6 * kMs);
  const auto workers = CompareLines(job_, 1, {0}, true, 1e5);
  ASSERT_EQ(workers.size(), 1U);
  EXPECT_TRUE(workers[0].in_worker);
  job_.ranks[0].host_lines.clear();
  EXPECT_TRUE(CompareLines(job_, 1, {0}, false, 1e5).empty()) << "nobody looked at the peer";
}

// A rank of a job with chance in its lengths, in which launches have stacks, and in its looks. One
// kernel and one line of many are planted on the last rank.
class PlantedRank {
 public:
  PlantedRank(std::uint64_t seed, int rank) : random_(10 * seed + static_cast<unsigned>(rank)) {
    builder_.rank().rank = rank;
  }

  struct Plant {
    int more = 0;        // launches of kernel 7, all at a line of their own
    double slower = 1;   // kernel 11
    TimeNs host_ns = 0;  // at line 108
  };

  RankSummary Play(const Plant& plant) {
    const auto planted = builder_.AddStack({{"extra_work", "/w/train.py", 300}});
    for (int line = 0; line < kLines; ++line)
      lines_.push_back(builder_.AddStack({{"step", "/w/train.py", 100 + line}}));
    for (int step = 0; step < 30; ++step) {
      for (int line = 0; line < kLines; ++line) {
        for (int i = 0; i < 2; ++i)
          Launch((line + i) % kKernels, lines_[static_cast<std::size_t>(line)], plant.slower);
        Host(lines_[static_cast<std::size_t>(line)],
             300 * kUs + (line == 8 ? plant.host_ns : TimeNs{0}));
      }
      for (int i = 0; i < plant.more; ++i) Launch(7, planted, 1);
      builder_.AddStepMark(host_);
    }
    builder_.rank().end = gpu_ + kMs;
    return SummarizeRank(builder_.rank()).at(0);
  }

 private:
  static constexpr int kLines = 20, kKernels = 15;

  double Chance() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  void Launch(int kernel, std::uint32_t stack, double slower) {
    const auto launch = builder_.AddApi(host_, host_ + 5 * kUs, "cudaLaunchKernel");
    const double noise = 0.95 + 0.1 * Chance();
    const auto length = static_cast<TimeNs>(static_cast<double>((100 + 10 * kernel) * kUs) * noise *
                                            (kernel == 11 ? slower : 1));
    gpu_ = std::max(gpu_, host_ + 10 * kUs);
    builder_.AddKernel(gpu_, gpu_ + length, fmt::format("kernel_{}", kernel), launch);
    gpu_ += length;
    if (Chance() < 0.1)
      builder_.AddLook(host_, stack, StackKind::kLaunch, builder_.rank().api.correlation[launch]);
    host_ += 6 * kUs;
  }
  void Host(std::uint32_t stack, TimeNs length) {
    for (; next_look_ < host_ + length; next_look_ += static_cast<TimeNs>(2e6 * Chance()) + kUs) {
      if (next_look_ >= host_) builder_.AddLook(next_look_, stack);
    }
    host_ += length;
  }

  RankBuilder builder_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> lines_;
  TimeNs host_ = kMs, gpu_ = 0, next_look_ = 0;
};

Job PlayRanks(std::uint64_t seed, const PlantedRank::Plant& plant) {
  Job job;
  for (int rank = 0; rank < 4; ++rank)
    job.ranks.push_back(PlantedRank(seed, rank).Play(rank == 3 ? plant : PlantedRank::Plant{}));
  return job;
}

constexpr std::uint64_t kSeeds = 20;

TEST(PlantedDifferencesTest, MoreLaunches) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Job job = PlayRanks(seed, {.more = 12});
    const auto found = CompareKernels(job, 3, {0, 1, 2}, 1e5);
    ASSERT_FALSE(found.empty()) << seed;
    EXPECT_EQ(found[0].kind, Kind::kMore) << seed;
    EXPECT_EQ(found[0].kernel, "kernel_7") << seed;
    EXPECT_EQ(found[0].place, "train.py:300 in extra_work") << seed;
    EXPECT_NEAR(found[0].count - found[0].peers_count, 12, 0.01) << seed;
    EXPECT_NEAR(found[0].more_ns, 12 * 170e3, 100e3) << seed;
  }
}

TEST(PlantedDifferencesTest, SlowerKernels) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Job job = PlayRanks(seed, {.slower = 1.6});
    const auto found = CompareKernels(job, 3, {0, 1, 2}, 1e5);
    ASSERT_EQ(found.size(), 1U) << seed;
    EXPECT_EQ(found[0].kind, Kind::kSlower) << seed;
    EXPECT_EQ(found[0].kernel, "kernel_11") << seed;
    EXPECT_NEAR(found[0].ratio, 1.6, 0.05) << seed;
  }
}

TEST(PlantedDifferencesTest, ASlowLineOfTheHost) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Job job = PlayRanks(seed, {.host_ns = 4 * kMs});
    const auto found = CompareLines(job, 3, {0, 1, 2}, false, 1e5);
    ASSERT_FALSE(found.empty()) << seed;
    EXPECT_EQ(found[0].place, "train.py:108 in step") << seed;
    EXPECT_NEAR(found[0].more_ns(), 4e6, 1e6) << seed;
  }
}

}  // namespace
}  // namespace traceinject
