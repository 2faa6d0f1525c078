// SPDX-License-Identifier: Apache-2.0
// Attention that is computed as products with a softmax between them, each in kernels of its own
// that store the scores and read them again.
//
// Such a kernel sequence is known by its structure: on one stream a softmax that is not that of a
// loss, before it a product of matrices and after it another, and between them nothing but kernels
// that move or scale numbers (scale, mask, dropout, casts). Backward there are two products on
// either side. Where the sizes of a product are known it is one of several at once (one a head), as
// many on both sides.
//
// Instead one fused call takes its operations (backward a quarter more: it computes the scores
// again) at kFusedShare of the 16-bit peak, and at least what queries, keys, values and results
// need of memory. Where sizes are not known, or the program computes in nothing but fp32, it is
// taken to last as long as the products alone: what is stored between them is saved.
#pragma once

#include "analyzer/metrics/what_if/kernel_savings.h"
#include "analyzer/model/calls/library_calls.h"

namespace traceinject {

// Of the dense peak, counting all pairs of queries and keys. cuDNN's and FlashAttention's kernels
// on H100 and H200 reach 35 to 60 %, and twice as much of what a causal mask leaves in the count.
inline constexpr double kFusedShare = 0.4;

// Of the operations in the range. O(operations).
KernelSaving FindAttentionSaving(const Rank& rank, const Device& device, const LibraryCalls& calls,
                                 OpRange range);

}  // namespace traceinject
