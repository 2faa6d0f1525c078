// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/record_clock.h"

#include <algorithm>
#include <cmath>

#include "injector/base/clock.h"

namespace traceinject {
namespace {

constexpr int kTries = 8;
constexpr std::int64_t kReadEveryNs = 100'000'000;
// Clocks are told apart by it: on a wrong one, a time is years off.
constexpr std::int64_t kPlausibleNs = 3'600'000'000'000;
// Readings of an hour or more; records do not wait that long.
constexpr std::size_t kMaxReadings = 36'000;

}  // namespace

RecordClocks g_record_clocks;

ClockReading ReadBothClocks(CUpti_TimestampCallbackFunc function) {
  ClockReading best{};
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = NowNs();
    const std::uint64_t ticks = function();
    const std::int64_t after = NowNs();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {ticks, before + shortest / 2};
  }
  return best;
}

bool RecordClocks::Use(CUpti_TimestampCallbackFunc source) {
  const int known = count_.load(std::memory_order_relaxed);
  int clock = source == nullptr ? kRealtime : 1;
  while (clock != kRealtime && clock < known && functions_[clock] != source) ++clock;
  if (clock == kMax) return false;
  if (clock != current()) ReadLast();
  if (clock != kRealtime && clock == known) {
    functions_[clock] = source;
    first_[clock] = ReadBothClocks(source);
    count_.store(known + 1, std::memory_order_release);
  }
  current_.store(clock, std::memory_order_release);
  return true;
}

void RecordClocks::ReadLast() {
  const int clock = current(), count = last_count_.load(std::memory_order_relaxed);
  if (clock == kRealtime || count == kMaxLasts) return;
  lasts_[count] = {clock, ReadBothClocks(functions_[clock])};
  last_count_.store(count + 1, std::memory_order_release);
}

void RecordTimes::ReadLasts() {
  for (; lasts_ < clocks_->lasts(); ++lasts_) {
    const auto& [clock, reading] = clocks_->last(lasts_);
    std::vector<ClockReading>& readings = readings_[static_cast<std::size_t>(clock)];
    if (reading.ticks > readings.back().ticks) readings.push_back(reading);
  }
}

void RecordTimes::Read() {
  const int count = clocks_->count();
  if (count == 1) return;
  while (static_cast<int>(readings_.size()) < count) {
    const int clock = static_cast<int>(readings_.size());
    readings_.emplace_back();
    if (clock != RecordClocks::kRealtime) readings_.back().push_back(clocks_->first(clock));
  }
  ReadLasts();
  read_ns_ = NowNs();
  const int clock = clocks_->current();
  if (clock == RecordClocks::kRealtime) return;
  std::vector<ClockReading>& readings = readings_[static_cast<std::size_t>(clock)];
  const ClockReading now = ReadBothClocks(clocks_->function(clock));
  // The last one moves along until it is far enough from the one before.
  if (readings.size() > 1 && now.realtime_ns - (readings.end() - 2)->realtime_ns < kReadEveryNs)
    readings.pop_back();
  if (now.ticks == readings.back().ticks) return;
  if (readings.size() >= kMaxReadings)
    readings.erase(readings.begin(), readings.begin() + kMaxReadings / 2);
  readings.push_back(now);
}

std::int64_t RecordTimes::Convert(int clock, std::uint64_t time) const {
  if (time == 0) return 0;
  const auto is_plausible = [this](std::int64_t ns) {
    return std::llabs(ns - read_ns_) < kPlausibleNs;
  };
  const std::int64_t expected = By(clock, time);
  if (is_plausible(expected)) return expected;
  for (int other = 0; other < static_cast<int>(readings_.size()); ++other) {
    const std::int64_t ns = By(other, time);
    if (is_plausible(ns)) return ns;
  }
  return 0;
}

// Along the line through the readings around it; before the first the nearest line goes on.
std::int64_t RecordTimes::By(int clock, std::uint64_t time) const {
  if (clock == RecordClocks::kRealtime) return static_cast<std::int64_t>(time);
  const std::vector<ClockReading>& readings = readings_[static_cast<std::size_t>(clock)];
  if (readings.size() < 2) {  // no rate is known yet: right at the reading only
    const ClockReading& only = readings.front();
    return only.realtime_ns + static_cast<std::int64_t>(time - only.ticks);
  }
  auto after = std::upper_bound(
      readings.begin() + 1, readings.end() - 1, time,
      [](std::uint64_t ticks, const ClockReading& reading) { return ticks < reading.ticks; });
  const ClockReading &from = *(after - 1), &to = *after;
  const double rate = static_cast<double>(to.realtime_ns - from.realtime_ns) /
                      static_cast<double>(to.ticks - from.ticks);
  const auto ticks = static_cast<double>(static_cast<std::int64_t>(time - from.ticks));
  return from.realtime_ns + std::llround(ticks * rate);
}

}  // namespace traceinject
