// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/merged_calls.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();

ApiCalls Calls(const std::vector<Interval>& times, const std::vector<std::uint32_t>& threads) {
  ApiCalls api;
  for (const Interval& time : times) {
    api.start.push_back(time.start);
    api.end.push_back(time.end);
  }
  api.thread.Append(threads);
  return api;
}

TEST(MergedCalls, AreTheUnionOverTheThreads) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    Intervals times, counted;
    std::vector<std::uint32_t> threads;
    TimeNs start = 0;
    for (int call = 0; call < 100; ++call) {
      start += static_cast<TimeNs>(random() % 8);
      times.push_back(
          {start, random() % 20 == 0 ? kOpen : start + static_cast<TimeNs>(random() % 10)});
      threads.push_back(static_cast<std::uint32_t>(random() % 4));
      if (threads.back() < 2 && times.back().end != kOpen) counted.push_back(times.back());
    }
    const ApiCalls api = Calls(times, threads);
    const std::vector<bool> feeders = {true, true, false};
    MergedCalls calls(api, feeders);
    const Intervals merged = Merge(counted);
    std::size_t passed = 0;
    for (TimeNs time = 0; time < start; time += static_cast<TimeNs>(random() % 40)) {
      calls.PassUntil(time);
      while (passed < merged.size() && merged[passed].end <= time) ++passed;
      for (std::size_t ahead = 0; ahead < 5; ++ahead) {
        const Interval* call = calls.At(ahead);
        ASSERT_EQ(call != nullptr, passed + ahead < merged.size());
        if (call == nullptr) break;
        ASSERT_EQ(*call, merged[passed + ahead]);
        ASSERT_EQ(calls.EndBefore(ahead),
                  passed + ahead == 0 ? kNever : merged[passed + ahead - 1].end);
      }
    }
  }
}

TEST(MergedCalls, OfNothingAreNone) {
  const ApiCalls api;
  const std::vector<bool> threads;
  MergedCalls calls(api, threads);
  calls.PassUntil(100);
  EXPECT_EQ(calls.At(0), nullptr);
  EXPECT_EQ(calls.EndBefore(0), kNever);
}

}  // namespace
}  // namespace traceinject
