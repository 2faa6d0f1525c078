// SPDX-License-Identifier: Apache-2.0
// Copies and memsets by direction and kind of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Of Transfer: CUpti_ActivityMemcpyKind, and CUpti_ActivityMemoryKind.
inline constexpr std::uint8_t kHostToDevice = 1, kDeviceToHost = 2;
inline constexpr std::uint8_t kPageable = 1, kPinned = 2;

struct CopyStats {
  bool is_memset = false;                   // else a copy
  std::uint8_t kind = 0;                    // CUpti_ActivityMemcpyKind; 0 for memsets
  std::uint8_t src_kind = 0, dst_kind = 0;  // CUpti_ActivityMemoryKind; 0 and 0 for memsets
  std::int64_t count = 0, async_count = 0;
  std::int64_t bytes = 0;
  TimeNs total_ns = 0;    // sum of whole durations
  TimeNs exposed_ns = 0;  // merged, clipped to the window, while no kernel ran on the device

  // Bytes per nanosecond, which is 10^9 bytes per second. Empty without time.
  std::optional<double> gb_per_s() const;
};

// Groups of one device, by time, largest first. `windows`: as many as ranges, in order. O(n).
std::vector<CopyStats> CountCopies(const Rank& rank, const GpuOps& ops, const OpRanges& ranges,
                                   const Intervals& windows);

// The same groups summed over several devices.
std::vector<CopyStats> MergeCopies(const std::vector<std::vector<CopyStats>>& devices);

// "HtoD", ...; "unknown" for 0 and for a number that CUPTI does not define.
std::string_view CopyKindName(std::uint8_t kind);
// "pageable", "pinned", "device", ...
std::string_view MemoryKindName(std::uint8_t kind);

}  // namespace traceinject
