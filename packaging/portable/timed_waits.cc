// SPDX-License-Identifier: Apache-2.0
// Waits by a clock of one's choice, for glibcs that have none, and for ThreadSanitizer: its runtime
// sees attempts to lock and to join, and these not yet. Hidden: no other library is to find them.
#include "packaging/portable/timed_waits.h"

#include <pthread.h>

#include <cerrno>

namespace {

// Tries until `end`. Older glibcs can only wait for a time of day, and somebody may set that.
template <typename Try>
int TryUntil(clockid_t clock, const timespec& end, Try try_once) {
  constexpr long kFirstPauseNs = 50'000, kLongestPauseNs = 1'000'000;
  timespec pause{0, kFirstPauseNs};
  for (;;) {
    const int result = try_once();
    if (result != EBUSY) return result;
    if (IsPast(clock, end)) return ETIMEDOUT;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    if (pause.tv_nsec < kLongestPauseNs) pause.tv_nsec *= 2;
  }
}

}  // namespace

extern "C" {
#pragma GCC visibility push(hidden)

// 2.30.
int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* end) noexcept {
  return TryUntil(clock, *end, [&] { return pthread_mutex_trylock(mutex); });
}

// 2.31.
int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* end) {
  return TryUntil(clock, *end, [&] { return pthread_tryjoin_np(thread, result); });
}

#pragma GCC visibility pop
}  // extern "C"
