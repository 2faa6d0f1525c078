// SPDX-License-Identifier: Apache-2.0
// Why the host did nothing that was recorded while a device idled (IdleCause::kHostWait).
//
//   data workers starting  processes of a data loader started then
//   imports                Python was importing modules, by the stacks that were seen
//   unknown                neither; stacks still tell where the program was
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/metrics/gpu/device_analysis.h"

namespace traceinject {

enum class HostWaitReason : std::uint8_t { kWorkersStarting, kImports, kUnknown };
inline constexpr std::size_t kHostWaitReasons =
    static_cast<std::size_t>(HostWaitReason::kUnknown) + 1;

// "data workers starting", "imports", "unknown".
std::string_view HostWaitReasonName(HostWaitReason reason);

struct HostWait {
  HostWaitReason reason = HostWaitReason::kUnknown;
  TimeNs ns = 0;
  std::uint32_t place = kNone;  // index into Rank::places: where the host was mostly; kNone
};

// From the first to the last step, the longest first; those without time are left out. Nothing but
// O(steps) where there is none of it, else O(events + looks).
std::vector<HostWait> ExplainHostWaits(const DeviceAnalysis& judged);

}  // namespace traceinject
