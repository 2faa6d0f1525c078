// SPDX-License-Identifier: Apache-2.0
// The clock that a client has the fake CUPTI take its times from
// (cuptiActivityRegisterTimestampCallback).
#pragma once

#include <cupti.h>

#include <cmath>
#include <cstdint>

#include "tests/fake_gpu/simulator/clock.h"

namespace traceinject::fake {

class ClientClock {
 public:
  explicit ClientClock(CUpti_TimestampCallbackFunc function) : function_(function) {
    const Reading begin = Read();
    SleepUntil(begin.time_ns + 20'000'000);
    const Reading end = Read();
    const double rate = static_cast<double>(end.ticks - begin.ticks) /
                        static_cast<double>(end.time_ns - begin.time_ns);
    // The rate of a test's clock is a round number: else two readings would tell it badly.
    rate_ = std::round(rate * 100) / 100;
    at_ = end;
  }

  std::uint64_t Now() const { return function_(); }
  // Of a time of the fake GPU, also of one to come. 0 stays 0.
  std::uint64_t Of(std::uint64_t time_ns) const {
    if (time_ns == 0) return 0;
    const auto since = static_cast<double>(static_cast<std::int64_t>(time_ns) - at_.time_ns);
    return at_.ticks + static_cast<std::uint64_t>(std::llround(since * rate_));
  }

 private:
  struct Reading {
    std::uint64_t ticks;
    std::int64_t time_ns;
  };

  // The tightest of a hundred.
  Reading Read() const {
    Reading best{};
    std::int64_t shortest = INT64_MAX;
    for (int i = 0; i < 100; ++i) {
      const std::int64_t before = NowNs();
      const std::uint64_t ticks = function_();
      const std::int64_t took = NowNs() - before;
      if (took >= shortest) continue;
      shortest = took;
      best = {ticks, before + took / 2};
    }
    return best;
  }

  CUpti_TimestampCallbackFunc function_;
  Reading at_{};
  double rate_ = 1;
};

}  // namespace traceinject::fake
