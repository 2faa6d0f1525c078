// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/align_counters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/sort_columns.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr TimeNs kMs = 1'000'000, kSecond = 1000 * kMs;
constexpr std::int64_t kGpuStart = 1'700'000'000'123'456'789;

// A device whose kernels run in steps with gaps between them, and samples of it whose clock is
// `shift` and `drift` beside that of the kernels.
struct Recording {
  explicit Recording(std::size_t steps, TimeNs shift_ns, double drift_ppm = 0,
                     TimeNs period_ns = kMs)
      : shift(shift_ns), drift(drift_ppm * 1e-6), period(period_ns) {
    std::minstd_rand random(7);
    TimeNs time = 10 * kMs;
    for (std::size_t i = 0; i < steps; ++i) {
      const TimeNs from = time + static_cast<TimeNs>(random() % (2 * kMs));
      const TimeNs to = from + 12 * kMs + static_cast<TimeNs>(random() % (9 * kMs));
      AddKernel(from, to);
      time = to + 8 * kMs;
    }
    end = time;
  }

  void AddKernel(TimeNs from, TimeNs to) {
    builder.AddKernel(from, to, "gemm");
    busy.push_back({from, to});
  }

  // The GPU's clock at a moment.
  std::int64_t GpuTime(TimeNs time) const {
    return kGpuStart + time + static_cast<TimeNs>(std::llround(drift * static_cast<double>(time)));
  }

  // Rows of `per_row` samples; recorded times are late by `shift`, and do not know of the drift.
  void Sample(std::size_t per_row = 100, TimeNs lead = 3 * kMs, TimeNs lag = 2 * kMs) {
    CounterSamples& samples = device().counters;
    samples.source = CounterSource::kPmSampling;
    samples.period_ns = period;
    samples.columns = {{CounterId::kSmActive, {}}};
    std::size_t in_row = per_row;
    for (TimeNs time = 0; time < end; time += period) {
      if (in_row == per_row) {
        samples.runs.push_back({.first = static_cast<std::uint32_t>(samples.size()),
                                .gpu_time = GpuTime(time),
                                .lead = samples.runs.empty() ? std::optional(lead) : std::nullopt,
                                .lag = lag});
        in_row = 0;
      }
      ++in_row;
      true_start.push_back(time);
      samples.start.push_back(time + shift);
      samples.end.push_back(time + shift + period);
      const TimeNs active = LengthInside(busy, {time, time + period});
      samples.columns[0].value.push_back(static_cast<std::int32_t>(active * 900 / period));
    }
  }

  Device& device() { return builder.rank().devices[0]; }
  TimeNs WorstError() {
    TimeNs worst = 0;
    const CounterSamples& samples = device().counters;
    for (std::size_t row = 0; row < samples.size(); ++row)
      worst = std::max(worst, std::abs(samples.start[row] - true_start[row]));
    return worst;
  }

  RankBuilder builder;
  const TimeNs shift;
  const double drift;
  const TimeNs period;
  Intervals busy;
  TimeNs end = 0;
  std::vector<TimeNs> true_start;
};

TEST(AlignCounters, FindsAKnownShift) {
  for (const TimeNs shift : {-1'234'567, 0, 400'000, 2'345'678}) {
    Recording recording(50, shift);
    recording.Sample(100, 5 * kMs, 5 * kMs);
    AlignCounters(recording.builder.rank());
    const CounterClock& clock = recording.device().counters.clock;
    EXPECT_LT(recording.WorstError(), 60'000) << shift;
    EXPECT_NEAR(static_cast<double>(clock.shift), static_cast<double>(-shift), 60'000);
    EXPECT_LT(clock.uncertainty, 60'000);
    EXPECT_TRUE(recording.device().counters.runs.empty());
  }
}

// With few samples the load tells nothing (load_fit.h), but beginnings and ends of activity do.
TEST(AlignCounters, AFewEdgesAreEnough) {
  for (const TimeNs shift : {-1'234'567, 0, 2'345'678}) {
    Recording recording(8, shift);
    recording.Sample(100, 5 * kMs, 5 * kMs);
    AlignCounters(recording.builder.rank());
    const CounterClock& clock = recording.device().counters.clock;
    EXPECT_LT(recording.WorstError(), 100'000) << shift;
    EXPECT_GE(clock.edges, 12U);
    EXPECT_LT(clock.uncertainty, 100'000);
  }
}

TEST(AlignCounters, FindsAKnownDrift) {
  Recording recording(2000, 500'000, 30);  // 50 s: 1.5 ms
  // As recorded, times stay beside the true ones by half a sample.
  recording.Sample(1000, 5 * kMs, 5 * kMs);
  AlignCounters(recording.builder.rank());
  const CounterClock& clock = recording.device().counters.clock;
  EXPECT_NEAR(clock.drift * 1e6, -30, 2);
  EXPECT_LT(recording.WorstError(), 100'000);
}

TEST(AlignCounters, ShorterSamplesAreSurer) {
  Recording coarse(40, 100'000), fine(40, 100'000, 0, kMs / 10);
  coarse.Sample();
  fine.Sample();
  AlignCounters(coarse.builder.rank());
  AlignCounters(fine.builder.rank());
  EXPECT_LT(fine.WorstError(), 10'000);
  EXPECT_LE(fine.device().counters.clock.uncertainty, coarse.device().counters.clock.uncertainty);
}

TEST(AlignCounters, ADeviceThatNeverIdlesHasBoundsOnly) {
  Recording recording(0, 0);
  recording.end = 2 * kSecond;
  recording.AddKernel(0, 2 * kSecond);
  recording.Sample(100, 3 * kMs, kMs);
  AlignCounters(recording.builder.rank());
  const CounterSamples& samples = recording.device().counters;
  EXPECT_EQ(samples.clock.edges, 0U);
  EXPECT_EQ(samples.clock.uncertainty, 2 * kMs);
  EXPECT_EQ(samples.start.front(), -kMs) << "in the middle between -3 and 1 ms";
}

// Another process works on the device: what it shows is not ours.
TEST(AlignCounters, ActivityOfOthersIsNoEdge) {
  Recording recording(40, 300'000);
  Recording other(40, 300'000);
  other.busy.clear();
  std::minstd_rand random(99);
  for (TimeNs time = 0; time < recording.end;) {
    const TimeNs start = time + static_cast<TimeNs>(random() % (30 * kMs));
    other.busy.push_back({start, start + 5 * kMs});
    time = start + 12 * kMs;
  }
  recording.busy = other.busy;
  recording.Sample(100, kMs, kMs);
  AlignCounters(recording.builder.rank());
  EXPECT_EQ(recording.device().counters.clock.edges, 0U);
  EXPECT_EQ(recording.device().counters.clock.uncertainty, kMs);
}

TEST(AlignCounters, SamplesThatAreMissingAreGaps) {
  Recording recording(40, 0);
  recording.Sample(100, kMs, kMs);
  CounterSamples& samples = recording.device().counters;
  const auto erase = [&](std::size_t first, std::size_t count) {
    const auto at = static_cast<std::ptrdiff_t>(first),
               end = at + static_cast<std::ptrdiff_t>(count);
    for (TimeColumn* times : {&samples.start, &samples.end}) {
      TimeColumn left;
      left.Append(*times, 0, first);
      left.Append(*times, first + count, times->size() - first - count);
      *times = std::move(left);
    }
    PackedColumn<std::int32_t> left;
    for (std::size_t i = 0; i < samples.columns[0].value.size(); ++i) {
      if (i < first || i >= first + count) left.push_back(samples.columns[0].value[i]);
    }
    samples.columns[0].value = left;
    recording.true_start.erase(recording.true_start.begin() + at,
                               recording.true_start.begin() + end);
  };
  // Within a run of samples, so that their times on the GPU's clock stay right.
  erase(150, 20);
  for (CounterRun& run : samples.runs) {
    if (run.first > 150) run.first -= 20;
  }
  recording.builder.rank().gaps.clear();
  AlignCounters(recording.builder.rank());
  ASSERT_EQ(samples.gaps.size(), 1U);
  EXPECT_NEAR(static_cast<double>(samples.gaps[0].start), 150e6, 1e5);
  EXPECT_EQ(samples.gaps[0].end - samples.gaps[0].start, 20 * kMs);
}

TEST(AlignCounters, RestsBetweenBurstsAreNoGaps) {
  Recording recording(200, -1'234'567);
  CounterSamples& samples = recording.device().counters;
  recording.Sample(50);
  // Of each second, a quarter; of one of these, a part is missing.
  RowOrder kept;
  std::vector<CounterRun> runs;
  std::vector<TimeNs> times;
  std::size_t beginnings = 0;
  for (const CounterRun& run : samples.runs) {
    const TimeNs time = recording.true_start[run.first];
    if (time % kSecond >= 250 * kMs || time == 1100 * kMs || run.first + 50 > samples.size())
      continue;
    CounterRun moved = run;
    moved.first = static_cast<std::uint32_t>(times.size());
    moved.lead.reset();
    if (time % kSecond == 0) {
      moved.lead = 3 * kMs;
      ++beginnings;
    }
    runs.push_back(moved);
    kept.Append({run.first, 50});
    for (std::size_t i = 0; i < 50; ++i) times.push_back(recording.true_start[run.first + i]);
  }
  ASSERT_GE(beginnings, 4U);
  for (CounterColumn& column : samples.columns) ApplyOrder(kept, column.value);
  ApplyOrder(kept, samples.start, samples.end);
  samples.runs = runs;
  recording.true_start = times;
  AlignCounters(recording.builder.rank());
  EXPECT_LT(recording.WorstError(), 100'000);
  ASSERT_EQ(samples.gaps.size(), 1U);
  EXPECT_NEAR(static_cast<double>(samples.gaps[0].start), 1100e6, 1e5);
  EXPECT_EQ(samples.gaps[0].end - samples.gaps[0].start, 50 * kMs);
}

TEST(AlignCounters, WhatWasNotToBeRecordedIsNoGap) {
  Recording recording(10, 0);
  recording.Sample(100, kMs, kMs);
  CounterSamples& samples = recording.device().counters;
  samples.runs.clear();
  samples.start = {0, kMs, 50 * kMs, 90 * kMs};
  samples.end = {kMs, 2 * kMs, 51 * kMs, 91 * kMs};
  samples.columns[0].value = {};
  for (int i = 0; i < 4; ++i) samples.columns[0].value.push_back(i);
  recording.builder.rank().gaps.push_back({3 * kMs, 49 * kMs, "window"});
  AlignCounters(recording.builder.rank());
  EXPECT_EQ(samples.gaps, (Intervals{{51 * kMs, 90 * kMs}}));
  EXPECT_GT(samples.clock.uncertainty, 0) << "the host's clock, by which NVML's samples are taken";
}

TEST(AlignCounters, RowsOutOfOrderAreSorted) {
  Recording recording(1, 0);
  CounterSamples& samples = recording.device().counters;
  samples.source = CounterSource::kGpm;
  samples.period_ns = 10;
  samples.start = {30, 10, 20};
  samples.end = {40, 20, 30};
  samples.columns = {{CounterId::kDram, {}}};
  for (int value : {3, 1, 2}) samples.columns[0].value.push_back(value);
  AlignCounters(recording.builder.rank());
  EXPECT_EQ(samples.start, (TimeColumn{10, 20, 30}));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(samples.columns[0].value[i], static_cast<int>(i) + 1);
}

}  // namespace
}  // namespace traceinject
