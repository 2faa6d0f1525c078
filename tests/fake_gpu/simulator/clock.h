// SPDX-License-Identifier: Apache-2.0
// The one clock of the fake GPU: CLOCK_REALTIME in nanoseconds, which is what CUPTI's time stamps
// are on Linux.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace traceinject::fake {

inline std::int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Returns at once if `time_ns` has passed.
inline void SleepUntil(std::int64_t time_ns) {
  const timespec until{static_cast<time_t>(time_ns / 1'000'000'000),
                       static_cast<long>(time_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// Busy until then, as a thread is that works.
inline void SpinUntil(std::int64_t time_ns) {
  while (NowNs() < time_ns) {
  }
}

}  // namespace traceinject::fake
