// SPDX-License-Identifier: Apache-2.0
// NCCL kernels and the NCCL calls that issued them.
//
// A call's kernel is launched on the thread of the call, inside its [start, end); between
// ncclGroupStart and ncclGroupEnd, inside the range of the outermost ncclGroupEnd, for all calls of
// that thread since the outermost ncclGroupStart. So a kernel leads to its calls through its
// launch: the CUDA call of the same correlation id gives thread and time. Where NCCL itself told
// which launch executed which operations (Rank::plans), that counts instead: it also knows the
// kernels of a group apart.
//
// Message size S, algorithm and bus bandwidth as in nccl-tests (doc/PERFORMANCE.md and the GetBw
// functions of src/*.cu): algbw = S / t, busbw = algbw x f(function, n), n the ranks of the
// communicator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Below this, time is latency: bandwidths are not comparable.
inline constexpr std::int64_t kLatencyBoundBytes = 1 << 20;

// What one call, or the calls of one group on one device, made the GPU do. Several operations fused
// in one kernel, and several kernels of one group, are one launch: their bytes add up, their time
// counts once.
struct NcclLaunch {
  std::string function;  // AllReduce, ...; "Send+Recv" or "AllGather+AllReduce" if grouped
  std::uint32_t communicator = kNone;  // index into Rank::communicators; kNone: unknown or several
  std::optional<int> communicator_size;  // ranks
  std::optional<std::int64_t>
      bytes;  // S; Send and Recv: the larger of the two sums. Empty: unknown
  // RING, SIMPLE, ...; several joined by "+"; empty: NCCL did not tell. "copy engine": no kernel.
  std::string algorithm = {}, protocol = {};
  std::int64_t calls = 0;            // 0: not linked
  std::uint32_t first_call = kNone;  // row of Collectives; kNone: not linked
  std::int64_t kernels = 0;
  std::int64_t copies = 0;         // of an operation that the copy engines executed
  std::uint32_t first_op = kNone;  // row of GpuOps
  TimeNs start = 0, end = 0;       // from the first kernel or copy to the end of the last
  TimeNs kernel_ns = 0;            // merged, of kernels and copies
  TimeNs exposed_ns = 0;           // of kernel_ns, while no kernel of other work ran on the device
  TimeNs blocked_ns = 0;           // of exposed_ns, the part that lasts until the end
  std::optional<int> channels = {};   // most of an operation in it; empty: NCCL did not tell
  std::optional<TimeNs> transfer_ns;  // see match_collectives.h
};

struct NcclLinks {
  std::vector<NcclLaunch> launches;  // by start
  // Kernels, as rows of GpuOps in order, that were joined to their calls. Those of one launch may
  // start on both sides of the end of a window.
  std::vector<std::uint32_t> linked_rows = {};
};

// What launches are made of, for who needs them one by one.
struct NcclParts {
  std::vector<std::vector<std::uint32_t>> calls;  // by launch: rows of Collectives
  // Rows of GpuOps in order, each with its launch.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ops;
};

// Finds the launches of one device. Communication kernels that are not NCCL's are left out
// (CountCommKernels counts them). `parts`: filled, unless it is null. O((kernels + calls + ranges)
// log).
NcclLinks LinkNccl(const Rank& rank, const Device& device, NcclParts* parts = nullptr);

// S of a call of `bytes` (count x type size of its count argument). Empty if that is unknown (-1),
// or if it needs n and n is unknown.
std::optional<std::int64_t> MessageBytes(std::string_view function, std::int64_t bytes,
                                         std::optional<int> n);

// f. Empty if n is needed and unknown or below 2, and for functions (or mixtures) without a
// definition.
std::optional<double> BusFactor(std::string_view function, std::optional<int> n);

// Whether every rank must have entered before any can leave: only then is the shortest kernel the
// transfer.
bool WaitsForAllRanks(std::string_view function);

// Communication kernels by what is known of them, for the operations in the ranges. O(n).
struct CommKernels {
  std::int64_t nccl = 0;
  std::int64_t other = 0;
};
CommKernels CountCommKernels(const Rank& rank, const GpuOps& ops, const OpRanges& ranges);

// Kernels joined to their calls, for the operations in the ranges. O(ranges log n).
std::int64_t CountLinked(const NcclLinks& links, const OpRanges& ranges);

}  // namespace traceinject
