// SPDX-License-Identifier: Apache-2.0
// Preloaded beside libtraceinject.so: CLOCK_REALTIME, by which the fake GPU works and recordings
// tell times, runs WEEK_SPEED times as fast as it does, and is set now and then: WEEK_STEPS,
// "3600:-1.5 7200:0.2", seconds after the beginning, in order, and by how much. Other clocks are
// left alone, and so are waits that do not name a time of day.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int64_t kSecond = 1'000'000'000;

using GetTime = int (*)(clockid_t, timespec*);
using Sleep = int (*)(clockid_t, int, const timespec*, timespec*);

int64_t ReadRealClock(clockid_t clock) {
  static auto next = reinterpret_cast<GetTime>(dlsym(RTLD_NEXT, "clock_gettime"));
  timespec now;
  next(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

double Speed() {
  static const char* text = getenv("WEEK_SPEED");
  static const double speed = text != nullptr ? atof(text) : 1;
  return speed;
}

// By how much the clock was set until so many nanoseconds after the beginning.
int64_t SetBy(int64_t elapsed) {
  static const char* steps = getenv("WEEK_STEPS");
  double sum = 0;
  for (const char* at = steps; at != nullptr && *at != '\0';) {
    char* end = nullptr;
    const double when = strtod(at, &end);
    if (*end != ':' || when * kSecond > static_cast<double>(elapsed)) break;
    sum += strtod(end + 1, &end);
    at = end;
  }
  return static_cast<int64_t>(sum * kSecond);
}

int64_t WallNs() {
  static const int64_t began_wall = ReadRealClock(CLOCK_REALTIME);
  static const int64_t began = ReadRealClock(CLOCK_MONOTONIC);
  const auto elapsed =
      static_cast<int64_t>(static_cast<double>(ReadRealClock(CLOCK_MONOTONIC) - began) * Speed());
  return began_wall + elapsed + SetBy(elapsed);
}

}  // namespace

EXPORT int clock_gettime(clockid_t clock, timespec* time) {
  static auto next = reinterpret_cast<GetTime>(dlsym(RTLD_NEXT, "clock_gettime"));
  if (clock != CLOCK_REALTIME) return next(clock, time);
  const int64_t now = WallNs();
  time->tv_sec = now / kSecond;
  time->tv_nsec = now % kSecond;
  return 0;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  static auto next = reinterpret_cast<Sleep>(dlsym(RTLD_NEXT, "clock_nanosleep"));
  if (clock != CLOCK_REALTIME || (flags & TIMER_ABSTIME) == 0)
    return next(clock, flags, time, left);
  const int64_t ahead = time->tv_sec * kSecond + time->tv_nsec - WallNs();
  if (ahead <= 0) return 0;
  const auto wait = static_cast<int64_t>(static_cast<double>(ahead) / Speed());
  const timespec relative{wait / kSecond, wait % kSecond};
  return next(CLOCK_MONOTONIC, 0, &relative, left);
}
