// SPDX-License-Identifier: Apache-2.0
// The clock of the recording: CLOCK_REALTIME in ns, which is also the base of CUPTI's timestamps on
// Linux (cupti_activity.h, cuptiActivityRegisterTimestampCallback), so that no conversion is
// needed.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace traceinject {

inline std::int64_t ReadClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t NowNs() { return ReadClockNs(CLOCK_REALTIME); }

// 0 where the clock was set back in between.
inline std::int64_t ElapsedNs(std::int64_t start_ns, std::int64_t end_ns) {
  return std::max<std::int64_t>(0, end_ns - start_ns);
}

}  // namespace traceinject
