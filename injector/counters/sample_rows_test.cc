// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/sample_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace traceinject {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

struct Sample {
  std::int64_t start, end;
  std::vector<std::int64_t> values;
  bool operator==(const Sample&) const = default;
};

std::vector<Sample> Decode(const CounterSampleRow& row, std::int64_t period_ns,
                           std::size_t counters) {
  std::vector<Sample> samples;
  CounterDecoder decoder(row.data, row.start, period_ns, counters);
  while (decoder.Next())
    samples.push_back(
        {decoder.start(), decoder.end(), {decoder.values().begin(), decoder.values().end()}});
  EXPECT_TRUE(decoder.AtEnd());
  return samples;
}

TEST(SampleRowsTest, WhatIsAddedComesOut) {
  const std::vector<Sample> samples = {{10, 1010, {0, 1000}},
                                       {1010, 2009, {500, -1}},
                                       {9000, 10'500, {1000, 0}},
                                       {10'500, 11'500, {1'000'000, 3}}};
  SampleRows rows(1, 7, 1000, 2);
  for (const Sample& sample : samples)
    rows.Add(sample.start, sample.end, 77'000 + sample.start, sample.values);
  rows.SetLead(5);
  rows.NoteLag(400);
  rows.NoteLag(300);
  rows.NoteLag(350);
  const std::vector<CounterSampleRow> taken = rows.Take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].device, 1);
  EXPECT_EQ(taken[0].set, 7U);
  EXPECT_EQ(taken[0].start, 10);
  EXPECT_EQ(taken[0].dur, 11'490);
  EXPECT_EQ(taken[0].samples, 4);
  EXPECT_EQ(taken[0].gpu_time, 77'010);
  EXPECT_TRUE(taken[0].is_first);
  EXPECT_EQ(taken[0].lead, 5);
  EXPECT_EQ(taken[0].lag, 300);
  EXPECT_EQ(Decode(taken[0], 1000, 2), samples);
  EXPECT_TRUE(rows.Take().empty());
}

TEST(SampleRowsTest, ARowIsASecondAtMost) {
  SampleRows rows(0, 1, 100 * kMillisecond, 1);
  const std::int64_t value = 5;
  for (std::int64_t i = 0; i < 25; ++i)
    rows.Add(i * 100 * kMillisecond, (i + 1) * 100 * kMillisecond, std::nullopt, {&value, 1});
  const std::vector<CounterSampleRow> taken = rows.Take();
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0].samples, 10);
  EXPECT_EQ(taken[2].samples, 5);
  EXPECT_FALSE(taken[1].has_gpu_time);
  EXPECT_FALSE(taken[1].is_first);
}

// What a sample takes of the file, in the worst case and in a plausible one: of ten counters.
TEST(SampleRowsTest, BytesOfASample) {
  constexpr std::size_t kCounters = 10;
  constexpr int kSamples = 100;  // of one look at 1 ms
  // The row of SQLite: its head, and the other columns with times of a day.
  constexpr double kRowBytes = 3 + 12 + 6 + 4 + 0 + 1 + 1 + 1 + 8 + 0 + 4;
  std::minstd_rand random(3);
  for (const bool worst : {true, false}) {
    SampleRows rows(0, 1, kMillisecond, kCounters);
    std::vector<std::int64_t> values(kCounters, 500);
    std::int64_t time = 0;
    for (int i = 0; i < kSamples; ++i) {
      for (std::int64_t& value : values)
        value = worst ? (i % 2) * 1000
                      : std::clamp<std::int64_t>(
                            value + static_cast<std::int64_t>(random() % 200) - 100, 0, 1000);
      const std::int64_t end =
          time + kMillisecond + static_cast<std::int64_t>(random() % 5) * 32 - 64;
      rows.Add(time, end, static_cast<std::uint64_t>(time), values);
      time = end;
    }
    const double bytes = (static_cast<double>(rows.Take()[0].data.size()) + kRowBytes) / kSamples;
    EXPECT_LE(bytes, worst ? 24 : 20) << worst;
  }
}

TEST(SampleRowsTest, HostileBytesEndTheSamples) {
  std::minstd_rand random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string data;
    for (int i = 0; i < 40; ++i) data.push_back(static_cast<char>(random()));
    CounterDecoder decoder(data, static_cast<std::int64_t>(random()) << 28, 1000, 3);
    int samples = 0;
    while (decoder.Next()) ++samples;
    EXPECT_LE(samples, 8);
  }
}

TEST(ClockGuessTest, TheLeastDelayIsNearestToTheTruth) {
  ClockGuess guess;
  guess.Note(1000, 6000);
  EXPECT_EQ(guess.offset(), 5000);
  guess.Note(2000, 6800);
  EXPECT_EQ(guess.offset(), 4800);
  guess.Note(3000, 9000);
  EXPECT_EQ(guess.offset(), 4800);
}

TEST(ClockGuessTest, ADriftIsFollowed) {
  for (const double drift : {-30e-6, 30e-6}) {
    ClockGuess guess;
    std::minstd_rand random(1);
    for (std::int64_t now = 0; now < 600'000 * kMillisecond; now += 100 * kMillisecond) {
      const auto gpu =
          static_cast<std::int64_t>(std::llround((1 + drift) * static_cast<double>(now)));
      guess.Note(gpu, now + static_cast<std::int64_t>(random() % kMillisecond));
      if (now < 10'000 * kMillisecond) continue;
      EXPECT_LT(std::abs(guess.offset() - (now - gpu)), 2 * kMillisecond);
    }
  }
}

TEST(PermilleTest, OfAShareInPercent) {
  EXPECT_EQ(StoredValue(CounterId::kSmActive, 63.94), 639);
  EXPECT_EQ(StoredValue(CounterId::kSmActive, 0), 0);
  EXPECT_EQ(StoredValue(CounterId::kSmActive, 100.04), 1000);
  EXPECT_EQ(StoredValue(CounterId::kSmActive, -0.1), -1);
  EXPECT_EQ(StoredValue(CounterId::kSmActive, std::nan("")), -1);
  EXPECT_EQ(StoredValue(CounterId::kSmClock, 1'664'700'000), 1665);
  EXPECT_EQ(StoredValue(CounterId::kSmClock, -1), -1);
}

}  // namespace
}  // namespace traceinject
