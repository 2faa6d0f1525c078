// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

inline bool IsPast(clockid_t clock, const timespec& end) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}
