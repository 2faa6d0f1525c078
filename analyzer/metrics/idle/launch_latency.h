// SPDX-License-Identifier: Apache-2.0
// The way of an operation from the call that launches it to its start on an idle device.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Copies take longer to begin, and communication waits for more than its launch.
inline bool IsOwnKernel(const GpuOps& ops, std::size_t row) {
  return ops.kind[row] == OpKind::kKernel && ops.kernel_class[row] != KernelClass::kComm;
}

// The fifth percentile of kernels where the device was idle. With work in store the time from
// launch to start says how far the host was ahead, nothing else. O(n).
TimeNs UsualLatency(const ApiCalls& api, const GpuOps& ops);

// Of the pauses between operations that were queued 50 us and more ahead, 95 of 100 take at
// most 2.4 us on an H200 (a network of LSTM cells aside).
inline constexpr TimeNs kLongestSwitchNs = 2'500;

// In launch-bound programs on an H200, 91 to 97 of 100 latencies are at most 1.5 times the
// fifth percentile.
constexpr bool IsUsualLatency(TimeNs latency_ns, TimeNs usual_latency_ns) {
  return 2 * latency_ns <= 3 * usual_latency_ns;
}

// Whether an operation that was launched before the device ran dry ended a gap only then because it
// was still on its way: longer than the device takes from one operation to the next, and so soon
// after its launch.
inline bool WasOnItsWay(const GpuOps& ops, std::uint32_t row, TimeNs gap_ns, TimeNs since_launch_ns,
                        TimeNs usual_latency_ns) {
  return gap_ns > kLongestSwitchNs && IsUsualLatency(since_launch_ns, usual_latency_ns) &&
         IsOwnKernel(ops, row);
}

}  // namespace traceinject
