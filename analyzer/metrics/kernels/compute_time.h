// SPDX-License-Identifier: Apache-2.0
// What the GPU computes with its time: kernels whose work is known, by the shape of the call, and
// all others by their name or class.
//
// Each moment in which something computes belongs to one kind: of kernels that run at the same time
// to the one that stands first in ComputeKind. So the times of the kinds add up to the computing
// time of a Partition, to the nanosecond.
//
// Work is what is needed, as in kernel_work.h: of attention with a causal mask the pairs that it
// leaves. HFU counts the full square (step_flops.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/calls/library_calls.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

enum class ComputeKind : std::uint8_t {
  kProduct,      // GEMMs and convolutions of a call whose work is known
  kAttention,    // likewise
  kUnknownWork,  // of the same classes, of which the call is not known
  kOther,        // kernels that hardly compute: elementwise, norms, optimizers
};
inline constexpr std::size_t kComputeKinds = static_cast<std::size_t>(ComputeKind::kOther) + 1;

// Share of the dense peak that the best attention kernels reach, of the work that a causal mask
// leaves: FlashAttention-3 on H100, head size 128, 16 bits (Shah et al. 2024: 740 of 989 TFLOP/s
// forward, and about 560 backward).
inline constexpr double kReachedAttentionForward = 0.75, kReachedAttentionBackward = 0.57;

// Kernels that did the same.
struct ComputeGroup {
  std::string name;  // "4096 x 1024 x 4096, bf16"; the kernel's name; the title of the class
  std::int64_t kernels = 0;
  TimeNs kernel_ns = 0;  // whole durations: of parallel kernels their sum
  // What the known work would take: at the dense peak of its type, at what the best kernels reach
  // of it, and by what it has to move at the bandwidth that good kernels reach.
  double peak_ns = 0, reached_ns = 0, memory_ns = 0;
  double full_square_ns = 0;  // of attention: at the peak, what HFU counts more than is needed
};

struct ComputeKindTime {
  TimeNs ns = 0;                     // alone
  std::vector<ComputeGroup> groups;  // by kernel_ns, largest first
};

struct ComputeTime {
  std::array<ComputeKindTime, kComputeKinds> kinds;

  const ComputeKindTime& of(ComputeKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
  TimeNs total_ns() const;
};

// Of the times together. Work is that of calls with a kernel that starts in them.
// O(calls + operations).
ComputeTime DivideComputeTime(const Rank& rank, const Device& device, const LibraryCalls& calls,
                              const Intervals& times);

}  // namespace traceinject
