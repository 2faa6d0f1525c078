// SPDX-License-Identifier: Apache-2.0
// Where on the timeline a cause takes its time: what would be gone, or shorter, without it.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/model/intervals.h"

namespace traceinject {

struct Vanishing {
  std::string device;  // its label in the report
  Intervals times;
};

// On the device that the verdict judged, in its steps: idle time of the cause, communication and
// copies that nothing overlaps, and of operations that would take less time the end that they would
// not take. They are not the saving: what comes after may be late for another reason, which the
// replay knows. Empty for a cause that takes none, or without steps. O(n log n) in operations.
Vanishing FindVanishing(const DeviceAnalysis& judged, std::string_view label);

}  // namespace traceinject
