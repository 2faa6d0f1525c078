// SPDX-License-Identifier: Apache-2.0
// Kernels that read and write numbers and hardly compute with them, one after the other over the
// same numbers: fused into one, most of the reading and writing in between is gone.
//
// What is taken for such a run, on one stream with no other kernel between them: elementwise
// kernels, casts and copies, dropout, rotary embeddings and single steps of an optimizer, all in as
// many threads, each of another name than the one before it: equal neighbors may work on different
// data. Reductions,
// normalizations and kernels of other sizes may stand between them, and keep their time, and so do
// optimizers in one pass over many tensors (multi_tensor_apply), which have fused their work, and
// what a compiler has fused (triton).
//
// Instead a run of three or more takes its longest kernel and kKeptOfOthers of the others: what
// only one of them reads has to be read in a fused one too, and what the backward pass needs is
// still written. A kernel alone saves nothing, whatever share of the memory bandwidth it reaches.
#pragma once

#include "analyzer/metrics/what_if/kernel_savings.h"

namespace traceinject {

inline constexpr double kKeptOfOthers = 0.2;

// Of the operations in the range. O(operations).
KernelSaving FindFusionSaving(const Rank& rank, const Device& device, OpRange range);

}  // namespace traceinject
