// SPDX-License-Identifier: Apache-2.0
// All of the program's code that was seen, and what a device waited for at it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/metrics/places/code_grouping.h"
#include "analyzer/metrics/places/device_places.h"

namespace traceinject {

// Looks and times are of the usual steps together (PlaceScope).
struct CodeRow {
  std::uint32_t place = kNone;   // of the group that was seen first; kNone: of a thread
  std::uint32_t thread = kNone;  // kThread only
  std::string module;            // kModules and kEachModule only; empty: outside of all
  bool own = false;              // code of the program, not of a library
  // Looks at which it was the innermost frame; at which it was the innermost one of the program's
  // own code; at which it was anywhere on the stack.
  double self_looks = 0, looks = 0, total_looks = 0;
  // Of the device, with the 95 % interval, and the cause with most of it.
  double idle_ns = 0, idle_low_ns = 0, idle_high_ns = 0;
  IdleCause cause = IdleCause::kUnknown;
  double cause_ns = 0;
  double wait_ns = 0;                                           // in calls that wait for the device
  double kernel_ns = 0, kernel_low_ns = 0, kernel_high_ns = 0;  // of what it launched
};

// In no order. Groupings of modules want places of SiteFrame::kModule, the others do not.
// O(looks + stacks * depth).
std::vector<CodeRow> RowsOfCode(const DeviceAnalysis& judged, const DevicePlaces& places,
                                CodeGrouping grouping);

// Between two looks at a thread; 0: not known.
TimeNs LookPeriod(const Rank& rank);

}  // namespace traceinject
