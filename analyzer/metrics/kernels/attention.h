// SPDX-License-Identifier: Apache-2.0
// Attention calls: how many, how many floating-point operations, and what of the GPU's time is
// GEMMs, convolutions or attention of unknown size.
//
// Convention of the FLOPs: that of torch.utils.flop_counter (sdpa_flop_count and
// sdpa_backward_flop_count): the full square of query and key lengths, a causal mask is not
// discounted; two products forward, five backward (the scores are computed again). So
//   forward  2 b h q k (d + v)       backward  2 b h q k (3 d + 2 v)
// with b batch, h query heads, q and k lengths, d and v head sizes.
//
// A call's kernels are those launched on its thread inside [start, end). Where the end is not known
// they are those that look like attention by name, launched before the thread's next product or
// attention call. A call in which cuBLAS was called did its work as products: they are counted as
// such, and here it has neither FLOPs nor kernels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/calls/library_calls.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Of one call; empty: its lengths are not known.
std::optional<double> AttentionFlops(const AttentionShape& shape, bool backward);

struct AttentionCalls {
  std::int64_t calls = 0;                    // recorded, or found to be a backward
  std::int64_t backward_calls = 0;           // of those
  std::int64_t linked_calls = 0;             // with kernels that were found
  std::int64_t product_calls = 0;            // done as products
  std::int64_t unknown_calls = 0;            // linked ones whose lengths are not known
  double flops = 0;                          // of the linked ones
  std::map<int, double> flops_by_type = {};  // the same, by cudaDataType; -1: unknown
  TimeNs kernel_ns = 0;
  // Kernels that look like GEMMs, convolutions or attention, and no figure of FLOPs
  // covers them: convolutions, compiled code, CUDA graphs, libraries without a hook, sequences of
  // unknown length.
  TimeNs unknown_ns = 0;
  TimeNs all_kernels_ns = 0;

  // Of all kernel time; empty: there was none.
  std::optional<double> unknown_share() const;
  AttentionCalls& operator+=(const AttentionCalls& other);
};

// The calls with a kernel in the ranges. O(calls + operations).
AttentionCalls LinkedAttention(const Rank& rank, const Device& device, const LibraryCalls& calls,
                               const OpRanges& ranges);

// The same. Those without a kernel on any device count once a rank: with its first device that did
// work, if they were called in the windows.
AttentionCalls CountAttention(const Rank& rank, const Device& device, const LibraryCalls& calls,
                              const OpRanges& ranges, const Intervals& windows);

}  // namespace traceinject
