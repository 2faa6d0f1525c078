// SPDX-License-Identifier: Apache-2.0
// Takes a mutex within a limit, by the clock that nobody sets.
#pragma once

#include <pthread.h>
#include <time.h>

#include <cstdint>

#include "injector/base/clock.h"

namespace traceinject {

// Whether the caller has it now. Safe in a handler of pthread_atfork.
inline bool LockWithin(pthread_mutex_t* mutex, std::int64_t limit_ns) {
  const std::int64_t until_ns = ReadClockNs(CLOCK_MONOTONIC) + limit_ns;
  const timespec until{static_cast<time_t>(until_ns / 1'000'000'000),
                       static_cast<long>(until_ns % 1'000'000'000)};
  return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until) == 0;
}

}  // namespace traceinject
