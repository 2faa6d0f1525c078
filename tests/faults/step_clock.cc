// SPDX-License-Identifier: Apache-2.0
// Preloaded beside libtraceinject.so: once the file STEP_CLOCK_WHEN exists, CLOCK_REALTIME is
// STEP_CLOCK_S seconds ahead (or behind) of what it would be, as after a step of the clock.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<bool> g_stepped{false};

time_t StepSeconds() {
  if (!g_stepped.load(std::memory_order_relaxed)) {
    const char* when = getenv("STEP_CLOCK_WHEN");
    const int saved_errno = errno;
    const bool now = when != nullptr && access(when, F_OK) == 0;
    errno = saved_errno;
    if (!now) return 0;
    g_stepped.store(true, std::memory_order_relaxed);
  }
  const char* seconds = getenv("STEP_CLOCK_S");
  return seconds != nullptr ? atol(seconds) : 0;
}

}  // namespace

EXPORT int clock_gettime(clockid_t clock, timespec* time) {
  static auto* next =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = next(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += StepSeconds();
  return result;
}

// For who waits until a time that the clock above told.
EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  static auto* next = reinterpret_cast<int (*)(clockid_t, int, const timespec*, timespec*)>(
      dlsym(RTLD_NEXT, "clock_nanosleep"));
  timespec until = *time;
  if (clock == CLOCK_REALTIME && (flags & TIMER_ABSTIME) != 0) until.tv_sec -= StepSeconds();
  if (until.tv_sec < 0) until = {};
  return next(clock, flags, &until, left);
}
