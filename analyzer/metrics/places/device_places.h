// SPDX-License-Identifier: Apache-2.0
// Which lines of the program a device waited for, and which its kernels are of.
//
// Idle time of a cause is exact; which line it was for is known of calls whose own stack was taken
// (kind 2 of stack_sample), and is else divided like the looks at the thread that launched the
// operation which ended the gap. Where that thread runs no Python (autograd's), the one that does
// most of the time counts, as it waits for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/metrics/places/looks.h"
#include "analyzer/metrics/places/place_tally.h"

namespace traceinject {

// A stretch of a thread between two calls that is this long is no overhead of launching, which
// takes 5 to 100 us an operation in Python.
inline constexpr TimeNs kLongStretchNs = 500'000;

// Of the judged steps together; without steps, of the window.
struct DevicePlaces {
  SiteFrame frame = SiteFrame::kOwn;  // that the places are of
  double steps = 1;
  std::array<TimeByPlace, kIdleCauses> idle;  // by IdleCause
  TimeByPlace late;         // of launches: kLaunch, kPython and kHostWait together
  TimeByPlace stretches;    // of that, in long stretches between calls
  TimeByPlace after_waits;  // of kDrainedBySync, what the host did then
  TimeByPlace waits;        // in calls that wait for the device, whether it idles or not
  TimeByPlace workers;      // of kDataWait, what the loader's workers did
  TimeByPlace kernels;      // by the line that launched them; kernels overlap
  TimeByPlace backward;     // of that, what no line launched: by the line that waited meanwhile

  const TimeByPlace& of(IdleCause cause) const { return idle[static_cast<std::size_t>(cause)]; }
};

// Empty: no stacks were recorded. The analysis has its timeline, steps, and their kinds.
// O(samples + gaps + calls + operations).
std::optional<DevicePlaces> FindDevicePlaces(const DeviceAnalysis& judged,
                                             SiteFrame frame = SiteFrame::kOwn);

// Who a single piece of idle time was for.
struct IdlePlaces {
  std::uint32_t thread = kNone;  // whose Python was looked at; kNone: of none there are looks
  TimeByPlace places;
};

// Hands each piece, which come by start, and its places to a visitor. `judged` has its timeline.
// O(samples + pieces + calls).
void VisitIdlePlaces(const DeviceAnalysis& judged, const std::vector<IdlePiece>& pieces,
                     const std::function<void(const IdlePiece&, const IdlePlaces&)>& visit);

// The times of the steps that the figures are of, and how many these are.
struct PlaceScope {
  Intervals times;
  double steps = 1;
};
PlaceScope ScopeOfPlaces(const DeviceAnalysis& judged);

// The thread whose Python stands for the device: of those that launch, the one with most looks,
// else the program's main thread; kNone: no thread has any.
std::uint32_t MainThreadOf(const DeviceAnalysis& judged, const std::vector<LookRuns>& looks);

}  // namespace traceinject
