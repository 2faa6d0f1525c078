// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/counters/kernel_counters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr TimeNs kPeriod = 1'000'000;

// Kernels with what each shows while it runs, and samples of what they show together.
class Sampled {
 public:
  Sampled() {
    CounterSamples& counters = samples();
    counters.source = CounterSource::kPmSampling;
    counters.period_ns = kPeriod;
    for (const CounterId id : {CounterId::kSmActive, CounterId::kTensorActive, CounterId::kDram})
      counters.columns.push_back({id, {}});
  }

  void Shows(const std::string& name, double sm, double tensor, double dram, int grid = 1) {
    shown_[{name, grid}] = {sm, tensor, dram};
  }
  void Run(TimeNs start, TimeNs end, const std::string& name, int grid = 1) {
    builder_.AddKernel(start, end, name, kNone, 0, grid);
  }
  // From 0 on. `noise`: standard deviation of a value.
  void Sample(TimeNs until, double noise = 0) {
    std::normal_distribution<double> off(0, noise);
    const GpuOps& ops = builder_.rank().devices[0].ops;
    for (TimeNs at = 0; at + kPeriod <= until; at += kPeriod) {
      double values[3] = {};
      for (std::size_t op = 0; op < ops.size(); ++op) {
        const TimeNs inside = std::min(ops.end[op], at + kPeriod) - std::max(ops.start[op], at);
        if (inside <= 0) continue;
        const auto& shown = shown_.at(LaunchOf(op));
        for (std::size_t i = 0; i < 3; ++i)
          values[i] += shown[i] * static_cast<double>(inside) / kPeriod;
      }
      samples().start.push_back(at);
      samples().end.push_back(at + kPeriod);
      for (std::size_t i = 0; i < 3; ++i) {
        const double permille = 1000 * (values[i] + (noise > 0 ? off(random_) : 0));
        samples().columns[i].value.push_back(
            static_cast<std::int32_t>(std::lround(std::max(0.0, permille))));
      }
    }
  }

  std::map<std::string, KernelCounters> Attribute(const Intervals& times) {
    std::map<std::string, KernelCounters> by_name;
    for (KernelCounters& one :
         AttributeCounters(builder_.rank(), builder_.rank().devices[0], times))
      by_name[std::string(builder_.rank().string(one.name))] = std::move(one);
    return by_name;
  }
  CounterSamples& samples() { return builder_.rank().devices[0].counters; }
  const Device& device() { return builder_.rank().devices[0]; }

 private:
  std::pair<std::string, int> LaunchOf(std::size_t op) {
    const Rank& rank = builder_.rank();
    const KernelShape& shape = rank.shapes[rank.devices[0].ops.detail[op]];
    return {std::string(rank.string(shape.name)), shape.grid[0]};
  }

  RankBuilder builder_;
  std::map<std::pair<std::string, int>, std::array<double, 3>> shown_;  // by name and grid
  std::mt19937 random_{17};
};

TEST(KernelCountersTest, AKernelThatRunsAloneForSamplesIsExact) {
  Sampled sampled;
  sampled.Shows("gemm", 0.95, 0.8, 0.3);
  sampled.Run(500'000, 8'400'000, "gemm");
  sampled.Sample(10 * kPeriod);
  const auto found = sampled.Attribute({{0, 10 * kPeriod}});
  const KernelCounters& gemm = found.at("gemm");
  EXPECT_TRUE(gemm.exact);
  EXPECT_EQ(gemm.samples, 7) << "not the first, which it had half of, nor the last";
  EXPECT_NEAR(*gemm.share(CounterId::kTensorActive), 0.8, 1e-9);
  EXPECT_NEAR(*gemm.share(CounterId::kDram), 0.3, 1e-9);
  EXPECT_EQ(gemm.limit(), KernelLimit::kTensor);
}

TEST(KernelCountersTest, ReadingAndWritingTogetherAreTheMemorysShare) {
  KernelCounters kernel;
  kernel.values = {{CounterId::kSmActive, 0.95, 0}, {CounterId::kDramRead, 0.5, 0}};
  EXPECT_EQ(kernel.memory().has_value(), false) << "what it writes is not known";
  kernel.values.push_back({CounterId::kDramWrite, 0.375, 0});
  EXPECT_EQ(kernel.memory()->share, 0.875);
  EXPECT_EQ(kernel.limit(), KernelLimit::kMemory) << "neither alone is limiting";
  kernel.values.push_back({CounterId::kTensorActive, 0.9, 0});
  EXPECT_EQ(kernel.limit(), KernelLimit::kTensor);
}

TEST(KernelCountersTest, AnUnsureClockTakesSamplesAtTheEdgesAway) {
  Sampled sampled;
  sampled.Shows("gemm", 0.95, 0.8, 0.3);
  sampled.Run(1'000'000, 8'000'000, "gemm");
  sampled.Sample(10 * kPeriod);
  EXPECT_EQ(sampled.Attribute({{0, 10 * kPeriod}}).at("gemm").samples, 7);
  sampled.samples().clock.uncertainty = 50'000;
  EXPECT_EQ(sampled.Attribute({{0, 10 * kPeriod}}).at("gemm").samples, 5);
}

// 30 to 300 us each, so that no sample is of one alone.
TEST(KernelCountersTest, ShortKernelsAreTakenApart) {
  Sampled sampled;
  sampled.Shows("gemm", 0.95, 0.8, 0.3);
  sampled.Shows("norm", 0.9, 0, 0.85);
  sampled.Shows("small", 0.2, 0, 0.1);
  std::mt19937 random(3);
  const char* const names[] = {"gemm", "norm", "small"};
  TimeNs at = 0;
  while (at < 400 * kPeriod) {
    const TimeNs length = 30'000 + static_cast<TimeNs>(random() % 270'000);
    sampled.Run(at, at + length, names[random() % 3]);
    at += length + static_cast<TimeNs>(random() % 40'000);
  }
  sampled.Sample(400 * kPeriod, 0.02);
  const auto found = sampled.Attribute({{0, 400 * kPeriod}});
  ASSERT_EQ(found.size(), 3U);
  for (const auto& [name, counters] : found) {
    EXPECT_FALSE(counters.exact);
    EXPECT_LT(counters.values[0].error, 0.02) << name;
  }
  EXPECT_NEAR(*found.at("gemm").share(CounterId::kTensorActive), 0.8, 0.03);
  EXPECT_NEAR(*found.at("gemm").share(CounterId::kDram), 0.3, 0.03);
  EXPECT_NEAR(*found.at("norm").share(CounterId::kTensorActive), 0, 0.03);
  EXPECT_NEAR(*found.at("norm").share(CounterId::kDram), 0.85, 0.03);
  EXPECT_NEAR(*found.at("small").share(CounterId::kSmActive), 0.2, 0.03);
  EXPECT_EQ(found.at("norm").limit(), KernelLimit::kMemory);
  EXPECT_EQ(found.at("small").limit(), KernelLimit::kLaunch);
}

// A large product and a small one by the same kernel: each with another neighbor, so that their
// mean would be taken for what the neighbors show.
TEST(KernelCountersTest, LaunchesOfAnotherGridAreNotAlike) {
  Sampled sampled;
  sampled.Shows("gemm", 0.9, 0.9, 0.1, 1000);
  sampled.Shows("gemm", 0.3, 0.1, 0.1, 16);
  sampled.Shows("norm", 0.9, 0, 0.8);
  sampled.Shows("copy", 0.8, 0, 0.9);
  std::mt19937 random(3);
  TimeNs at = 0;
  for (int i = 0; at < 600 * kPeriod; ++i) {
    const auto run = [&](const std::string& name, TimeNs most, int grid) {
      const TimeNs length = most / 2 + static_cast<TimeNs>(random() % static_cast<unsigned>(most));
      sampled.Run(at, at + length, name, grid);
      at += length;
    };
    run("gemm", 300'000, 1000);
    run("norm", 200'000, 1);
    if (i % 2 == 0) run("gemm", 200'000, 16);
    if (i % 2 == 0) run("copy", 300'000, 1);
  }
  sampled.Sample(600 * kPeriod, 0.01);
  const auto found = sampled.Attribute({{0, 600 * kPeriod}});
  EXPECT_NEAR(*found.at("norm").share(CounterId::kTensorActive), 0, 0.02);
  EXPECT_NEAR(*found.at("copy").share(CounterId::kTensorActive), 0, 0.02);
  EXPECT_NEAR(*found.at("gemm").share(CounterId::kTensorActive), 0.7, 0.02)
      << "the mean by time: three quarters of it large ones";
  EXPECT_LT(found.at("gemm").values[1].error, 0.02);
}

TEST(KernelCountersTest, WhatTakesNoTimeShowsNothing) {
  Sampled sampled;
  sampled.Shows("gemm", 0.95, 0.8, 0.3);
  sampled.Shows("nothing", 0, 0, 0);
  for (TimeNs at = 0; at < 10 * kPeriod; at += kPeriod) {
    sampled.Run(at, at + kPeriod, "gemm");
    for (TimeNs empty = 1; empty < 40; ++empty)
      sampled.Run(at + empty * 10'000, at + empty * 10'000, "nothing");
  }
  sampled.Sample(10 * kPeriod);
  const auto found = sampled.Attribute({{0, 10 * kPeriod}});
  ASSERT_TRUE(found.contains("gemm"));
  EXPECT_TRUE(found.at("gemm").exact);
  EXPECT_EQ(found.at("gemm").samples, 10);
}

TEST(KernelCountersTest, OnlySamplesInsideTheTimesCount) {
  Sampled sampled;
  sampled.Shows("gemm", 0.95, 0.8, 0.3);
  sampled.Shows("warm up", 0.5, 0.1, 0.1);
  sampled.Run(0, 10'000'000, "warm up");
  sampled.Run(10'000'000, 20'000'000, "gemm");
  sampled.Sample(20 * kPeriod);
  const auto found = sampled.Attribute({{10'000'000, 20'000'000}});
  EXPECT_EQ(found.size(), 1U);
  EXPECT_TRUE(found.contains("gemm"));
}

TEST(KernelCountersTest, WithoutSamplesThereIsNothing) {
  Sampled sampled;
  sampled.Shows("gemm", 1, 1, 1);
  sampled.Run(0, 10'000'000, "gemm");
  EXPECT_TRUE(sampled.Attribute({{0, 10'000'000}}).empty());
}

TEST(KernelCountersTest, ParallelKernelsShareASample) {
  Sampled sampled;
  sampled.Shows("a", 0.4, 0.4, 0.1);
  sampled.Shows("b", 0.4, 0, 0.4);
  sampled.Run(0, 10'000'000, "a");
  sampled.Run(2'000'000, 12'000'000, "b");
  sampled.Sample(12 * kPeriod);
  const auto found = sampled.Attribute({{0, 12 * kPeriod}});
  EXPECT_FALSE(found.contains("a") && found.at("a").exact) << "two samples of its own";
}

TEST(MeanCountersTest, OverTheTimesThatHaveSamples) {
  Sampled sampled;
  sampled.Shows("gemm", 0.9, 0.8, 0.2);
  sampled.Run(0, 5'000'000, "gemm");
  sampled.Sample(10 * kPeriod);
  const DeviceCounters all = MeanCounters(sampled.device(), {{0, 20 * kPeriod}});
  EXPECT_EQ(all.covered_ns, 10 * kPeriod);
  EXPECT_NEAR(*all.mean(CounterId::kTensorActive), 0.4, 1e-9);
  EXPECT_FALSE(all.mean(CounterId::kFp64));
  const DeviceCounters part =
      MeanCounters(sampled.device(), {{4'500'000, 5'500'000}, {9'000'000, 9'500'000}});
  EXPECT_EQ(part.covered_ns, 1'500'000);
  EXPECT_NEAR(*part.mean(CounterId::kTensorActive), 0.8 / 3, 1e-9);
}

// As in a damaged file: no time is covered twice.
TEST(MeanCountersTest, SamplesThatOverlapCoverTheirTimesOnce) {
  Sampled sampled;
  sampled.Shows("gemm", 0.9, 0.8, 0.2);
  sampled.Run(0, 5'000'000, "gemm");
  sampled.Sample(10 * kPeriod);
  Device device = sampled.device();
  const TimeNs start = device.counters.start[2];
  for (std::size_t sample = 3; sample < 8; ++sample) device.counters.start.Set(sample, start);
  EXPECT_EQ(MeanCounters(device, {{0, 20 * kPeriod}}).covered_ns, 10 * kPeriod);
}

}  // namespace
}  // namespace traceinject
