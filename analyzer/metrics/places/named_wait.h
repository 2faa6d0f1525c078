// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "analyzer/metrics/gpu/device_analysis.h"

namespace traceinject {

// Host time that no call and no recorded wait explains (IdleCause::kHostWait), by name.
struct NamedWait {
  std::string name;  // of a range of the program, or of an operator in another profiler's trace
  double share = 0;  // of that time
};

// The name with most of it, of the threads that launch; of equal ones the shortest range. Ranges
// that are steps say nothing. Empty: none has half of it. O(ranges log).
std::optional<NamedWait> NameHostWait(const DeviceAnalysis& judged);

}  // namespace traceinject
