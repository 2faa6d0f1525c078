// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/record_clock.h"

#include <gtest/gtest.h>
#include <time.h>

#include "injector/base/clock.h"

namespace traceinject {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;
// Far less than a step of the other clock against ours would be, more than a preempted reading.
constexpr std::int64_t kNearNs = 2'000'000;

// 3 ticks a ns, from a few days ago on.
std::uint64_t TicksAt(std::int64_t realtime_ns) {
  static const std::int64_t zero = NowNs() - 3 * kDayNs;
  return static_cast<std::uint64_t>(realtime_ns - zero) * 3;
}
std::uint64_t ReadTicks() { return TicksAt(NowNs()); }
std::uint64_t ReadMonotonic() { return static_cast<std::uint64_t>(ReadClockNs(CLOCK_MONOTONIC)); }

void SleepMs(int ms) {
  const timespec time{0, ms * 1'000'000L};
  nanosleep(&time, nullptr);
}

TEST(RecordClockTest, TimesStayWhileThereIsNoOtherClock) {
  RecordClocks clocks;
  RecordTimes times(&clocks);
  times.Read();
  EXPECT_EQ(times.ToRealtimeNs(RecordClocks::kRealtime, 17), 17);
  EXPECT_EQ(times.ToRealtimeNs(RecordClocks::kRealtime, 0), 0);
}

TEST(RecordClockTest, AnotherClockIsBroughtBack) {
  RecordClocks clocks;
  RecordTimes times(&clocks);
  ASSERT_TRUE(clocks.Use(ReadTicks));
  const int clock = clocks.current();
  for (int i = 0; i < 30; ++i) {
    const std::int64_t then = NowNs();
    SleepMs(5);
    times.Read();
    EXPECT_NEAR(static_cast<double>(times.ToRealtimeNs(clock, TicksAt(then)) - then), 0, 2000);
  }
  EXPECT_EQ(times.ToRealtimeNs(clock, 0), 0) << "no time stays none";
}

TEST(RecordClockTest, RecordsOfTheClockBeforeAreTold) {
  RecordClocks clocks;
  RecordTimes times(&clocks);
  const std::int64_t then = NowNs();
  ASSERT_TRUE(clocks.Use(ReadTicks));
  SleepMs(2);
  times.Read();
  EXPECT_EQ(times.ToRealtimeNs(clocks.current(), static_cast<std::uint64_t>(then)), then)
      << "CLOCK_REALTIME, in a buffer that came back after the change";
  ASSERT_TRUE(clocks.Use(ReadMonotonic));
  SleepMs(2);
  times.Read();
  EXPECT_NEAR(static_cast<double>(times.ToRealtimeNs(clocks.current(), TicksAt(then)) - then), 0,
              static_cast<double>(kNearNs));
  constexpr std::uint64_t kFarAway = std::uint64_t{1} << 61;  // zero is near right after the boot
  EXPECT_EQ(times.ToRealtimeNs(clocks.current(), kFarAway), 0) << "of no clock that is known";
}

// As of a session of PyTorch's profiler between two flushes that takes CUPTI away at its end.
TEST(RecordClockTest, OneThatIsGoneBeforeItIsReadIsBroughtBack) {
  RecordClocks clocks;
  RecordTimes times(&clocks);
  ASSERT_TRUE(clocks.Use(ReadTicks));
  const int clock = clocks.current();
  SleepMs(5);
  const std::int64_t then = NowNs();
  SleepMs(5);
  ASSERT_TRUE(clocks.Use(nullptr));
  SleepMs(5);
  times.Read();
  EXPECT_NEAR(static_cast<double>(times.ToRealtimeNs(clock, TicksAt(then)) - then), 0, 2000);
}

TEST(RecordClockTest, TheSameFunctionIsTheSameClock) {
  RecordClocks clocks;
  ASSERT_TRUE(clocks.Use(ReadTicks));
  const int clock = clocks.current();
  ASSERT_TRUE(clocks.Use(nullptr));
  EXPECT_EQ(clocks.current(), RecordClocks::kRealtime);
  ASSERT_TRUE(clocks.Use(ReadTicks));
  EXPECT_EQ(clocks.current(), clock);
  EXPECT_EQ(clocks.count(), 2);
}

}  // namespace
}  // namespace traceinject
