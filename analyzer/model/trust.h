// SPDX-License-Identifier: Apache-2.0
// What the records of a process contradict themselves in, as the readers found and repaired it (see
// repair_clock.h, repair_operations.h). All 0: nothing was found.
#pragma once

#include <cstdint>
#include <vector>

namespace traceinject {

// The clock that all times come from was set while recording.
struct ClockStep {
  std::int64_t at_ns = 0;  // before the step, on the repaired clock
  std::int64_t by_ns = 0;  // forwards if positive
  bool repaired = false;   // false: it could not be found out which records it lies between
};

struct Trust {
  std::int64_t operations = 0;  // on GPUs: that many were looked at
  // Set aside: they lie where nothing was recorded.
  std::int64_t outside = 0;
  // Durations that cannot be, replaced by what such a kernel usually takes.
  std::int64_t corrupt_durations = 0;
  std::int64_t corrupt_ns = 0;   // that they claimed too much
  std::int64_t replaced_ns = 0;  // that they have now: a guess
  // Of one stream, within another one of an ordinary length: either may be wrong, both were left.
  std::int64_t overlaps = 0;
  std::int64_t early_starts = 0;  // before the call that launched them
  // Joins of operations to calls by correlation id.
  std::int64_t links = 0;           // that there were
  std::int64_t wrong_links = 0;     // that cannot be: set aside
  std::int64_t repeated_links = 0;  // of those, to a launch that has another kernel already
  bool links_dropped = false;       // so many were wrong that all were set aside
  // Calls that launched or copied something, and those of them whose operation is missing.
  std::int64_t launches = 0, lost_operations = 0;
  std::vector<ClockStep> clock_steps;

  double lost_share() const {
    return launches == 0 ? 0 : static_cast<double>(lost_operations) / static_cast<double>(launches);
  }
};

}  // namespace traceinject
