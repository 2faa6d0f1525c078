// SPDX-License-Identifier: Apache-2.0
// What kept the threads that feed a device from launching more work.
//
// The threads that launch a device's kernels (the program's main thread, autograd's) take turns, so
// they are seen as one. Where several things go on at once the more specific one counts: a garbage
// collection before an allocation, that before a checkpoint, a wait for data, a wait for the
// device.
//
// Units and convention: int64 nanoseconds, half-open intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Why a device was idle.
enum class IdleCause : std::uint8_t {
  kDataWait,       // the program waited for its data loader
  kSync,           // a call that waits for the device had not returned yet
  kDrainedBySync,  // such a call let the device run dry; the host was on its way to the next launch
  kAllocator,      // memory was allocated or freed, and what that delayed
  kCheckpoint,     // the program was being saved
  kGc,             // Python collected garbage
  kLaunch,         // inside launch calls, and from a launch to the start of its operation
  kPython,         // between calls
  kHostWait,       // between calls for so long that something unrecorded must have gone on
  kCopy,           // a copy was prepared or waited for
  kCommunication,  // waiting to begin, or for the end of, communication
  kQueued,         // launched in time: the device's own change from one operation to the next
  kUnknown,        // the launch was not recorded, or nothing followed
};
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::kUnknown) + 1;

// "data wait", "sync", ...
std::string_view IdleCauseName(IdleCause cause);

struct HostSegment {
  Interval time;
  IdleCause cause = IdleCause::kUnknown;
  // The call waits for the device: row of the operation whose end it waited for; kNone: no wait.
  std::uint32_t waits_for = kNone;
};

struct HostTimeline {
  // Disjoint, by start: all that is neither a short call nor time between calls.
  std::vector<HostSegment> segments;
  std::vector<bool> feeders;  // per thread: it launches kernels of the device
};

// Whether an NVTX text names the loading of data: "DataLoader", "dataloader.next", "load_batch".
bool NamesDataLoading(std::string_view text);

// Waits for data are the recorded ones; without any, the NVTX ranges that name the loading of data.
// O(n log n) in events.
HostTimeline BuildHostTimeline(const Rank& rank, const Device& device);

}  // namespace traceinject
