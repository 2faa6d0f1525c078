// SPDX-License-Identifier: Apache-2.0
// GEMMs and convolutions that would be faster in another type or of other sizes.
//
// low_precision: products and convolutions of fp32 that use no tensor cores (by name). Instead:
// TF32 where that has a faster peak than fp32, else bf16, else fp16. A product of known size then
// takes its operations at kUsualShare of what the best products of that type reach, and at least
// what its fp32 matrices need of memory; kernels of unknown size become at most kMaxGain times as
// fast. Where other kernels of the range use TF32, or the call allowed it, it is switched on, and
// something else kept it from these.
//
// inefficient: products of known size, in the type that they have, of which the caller could ask in
// another way: rows that are no multiple of 16 bytes, kernels built for an older GPU (not of TF32,
// which libraries use on new ones too), and sizes too small for the GPU. Instead they take what
// products of good shape take: kUsualShare of what the best ones reach, and at least what their
// matrices need of memory, and kMinProductNs. All other products keep their time.
#pragma once

#include "analyzer/metrics/what_if/kernel_savings.h"
#include "analyzer/model/calls/library_calls.h"

namespace traceinject {

// From fp32 to TF32 or 16 bits a whole convolutional network gains 2 to 3 times.
inline constexpr double kMaxGain = 3;
// A product in a kernel of its own takes about as long, however small it is.
inline constexpr double kMinProductNs = 4'000;

struct ProductSavings {
  KernelSaving low_precision, inefficient;
};

// Of the operations in the range. O(operations).
ProductSavings FindProductSavings(const Rank& rank, const Device& device, const LibraryCalls& calls,
                                  OpRange range);

}  // namespace traceinject
