// SPDX-License-Identifier: Apache-2.0
// What waits by a clock of one's choice share.
#pragma once

#include <time.h>

// Whether `clock` has reached `end`.
inline bool IsPast(clockid_t clock, const timespec& end) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}
