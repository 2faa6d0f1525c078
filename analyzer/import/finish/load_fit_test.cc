// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/load_fit.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "analyzer/import/finish/align_counters.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr std::int64_t kCountersBegin = 1'700'000'000'123'456'789;

// A device that never idles: steps of kernels that load it differently, none as long as the one
// before. Samples are `late`: they are told as if they began so much later.
class BusyDevice {
 public:
  struct Kernel {
    std::string name;
    TimeNs length;
    double sm, tensor, dram;
  };

  BusyDevice(TimeNs length, TimeNs late, double drift = 0,
             std::vector<Kernel> kernels = {{"product", 700 * kUs, 0.95, 0.9, 0.2},
                                            {"norm", 210 * kUs, 0.99, 0, 0.8},
                                            {"attention", 1400 * kUs, 0.95, 0.6, 0.1},
                                            {"copy", 90 * kUs, 0.7, 0, 0.9}})
      : kernels_(std::move(kernels)) {
    std::minstd_rand random(5);
    std::vector<double> sm, tensor, dram;
    TimeNs time = 0;
    for (std::size_t i = 0; time < length; ++i) {
      const std::size_t which = i % kernels_.size();
      const Kernel& kernel = kernels_[which];
      const TimeNs end = time + kernel.length + static_cast<TimeNs>(random() % (50 * kUs));
      builder.AddKernel(time, end, kernel.name);
      ran_.push_back({{time, end}, which});
      time = end;
    }
    Sample(time, late, drift);
  }

  // What the samples say they began, less the truth.
  TimeNs WorstError() {
    const CounterSamples& samples = builder.rank().devices[0].counters;
    TimeNs worst = 0;
    for (std::size_t i = 0; i < samples.size(); ++i)
      worst = std::max(worst, std::abs(samples.start[i] - true_start_[i]));
    return worst;
  }
  CounterSamples& samples() { return builder.rank().devices[0].counters; }

  RankBuilder builder;

 private:
  void Sample(TimeNs length, TimeNs late, double drift) {
    CounterSamples& samples = this->samples();
    samples.source = CounterSource::kPmSampling;
    samples.period_ns = kMs;
    samples.columns = {
        {CounterId::kSmActive, {}}, {CounterId::kTensorActive, {}}, {CounterId::kDram, {}}};
    std::mt19937 random(9);
    std::normal_distribution<double> noise(0, 0.02);
    std::size_t from = 0;
    for (TimeNs time = 0; time + kMs <= length; time += kMs) {
      std::array<double, 3> shown{};
      while (ran_[from].time.end <= time) ++from;
      for (std::size_t i = from; i < ran_.size() && ran_[i].time.start < time + kMs; ++i) {
        const Kernel& kernel = kernels_[ran_[i].kernel];
        const auto inside = static_cast<double>(std::min(ran_[i].time.end, time + kMs) -
                                                std::max(ran_[i].time.start, time));
        shown[0] += kernel.sm * inside / kMs;
        shown[1] += kernel.tensor * inside / kMs;
        shown[2] += kernel.dram * inside / kMs;
      }
      const auto drifted = static_cast<TimeNs>(std::llround(drift * static_cast<double>(time)));
      if (samples.size() % 100 == 0)
        samples.runs.push_back(
            {.first = static_cast<std::uint32_t>(samples.size()),
             .gpu_time = kCountersBegin + time + drifted,
             .lead = samples.runs.empty() ? std::optional(30 * kMs) : std::nullopt,
             .lag = 2 * kMs});
      samples.start.push_back(time + late);
      samples.end.push_back(time + late + kMs);
      for (std::size_t i = 0; i < shown.size(); ++i)
        samples.columns[i].value.push_back(
            static_cast<std::int32_t>(1000 * std::max(0.0, shown[i] + noise(random))));
      true_start_.push_back(time);
    }
  }

  struct Ran {
    Interval time;
    std::size_t kernel;
  };
  std::vector<Kernel> kernels_;
  std::vector<Ran> ran_;
  std::vector<TimeNs> true_start_;
};

TEST(LoadFit, FindsTheShiftOfADeviceThatNeverIdles) {
  for (const TimeNs late : {0 * kMs, 12'345 * kUs, 25'500 * kUs}) {
    BusyDevice device(3000 * kMs, late);
    AlignCounters(device.builder.rank());
    EXPECT_LT(device.WorstError(), 40 * kUs) << late;
    EXPECT_LT(device.samples().clock.uncertainty, 50 * kUs);
    EXPECT_EQ(device.samples().clock.edges, 0U);
  }
}

TEST(LoadFit, FindsADrift) {
  BusyDevice device(12'000 * kMs, 12 * kMs, 4e-5);  // 0.5 ms in all
  AlignCounters(device.builder.rank());
  EXPECT_LT(device.WorstError(), 60 * kUs);
  EXPECT_NEAR(device.samples().clock.drift * 1e6, -40, 4);
}

TEST(LoadFit, WhatLoadsTheDeviceEvenlyTellsNothing) {
  BusyDevice device(3000 * kMs, 12 * kMs, 0, {{"product", 700 * kUs, 0.95, 0.9, 0.2}});
  AlignCounters(device.builder.rank());
  EXPECT_GT(device.samples().clock.uncertainty, 10 * kMs) << "bounds only";
}

TEST(LoadFit, TooFewSamplesTellNothing) {
  BusyDevice device(200 * kMs, 12 * kMs);
  const std::vector<std::int64_t> gpu_time(device.samples().start.begin(),
                                           device.samples().start.end());
  EXPECT_TRUE(
      FitLoad(device.builder.rank(), device.builder.rank().devices[0], gpu_time, [](std::size_t) {
        return Interval{-50 * kMs, 0};
      }).empty());
}

// The first sample of all may begin long before sampling did: it is none, and what it says of the
// time in which the others lie stands.
TEST(LoadFit, ASampleWithoutABeginningIsLeftOut) {
  BusyDevice device(3000 * kMs, 12 * kMs);
  CounterSamples& samples = device.samples();
  constexpr TimeNs kEarlier = 924 * kMs;
  samples.start.Set(0, samples.start[0] - kEarlier);
  samples.runs[0].gpu_time -= kEarlier;
  *samples.runs[0].lead -= kEarlier;
  const std::size_t before = samples.size();
  AlignCounters(device.builder.rank());
  ASSERT_EQ(samples.size(), before - 1);
  for (std::size_t i = 0; i < samples.size(); ++i)
    ASSERT_NEAR(static_cast<double>(samples.start[i]), static_cast<double>((i + 1) * kMs),
                40 * kUs);
  EXPECT_TRUE(samples.gaps.empty());
}

}  // namespace
}  // namespace traceinject
