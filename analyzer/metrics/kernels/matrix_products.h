// SPDX-License-Identifier: Apache-2.0
// GEMMs by shape, and convolutions as the GEMMs that they amount to: how many, how many
// floating-point operations, how fast.
//
// A product's kernels are those launched on the thread of its call inside [start, end) of the call
// (cuBLAS may launch several: a split over k and its sum). FLOPs are 2 m n k batch, 8 m n k batch
// for complex types: the multiplications and additions that the product needs, whatever the kernel
// does. A grouped call is several products with the kernels of one: their operations add up, and
// the kernels count for the last of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/calls/library_calls.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Whether a product is that of an operator of PyTorch, from its inputs, and not of a library's
// call.
inline bool IsOperator(std::string_view function) { return function.starts_with("aten::"); }

// Of one product of this shape.
double FlopsOf(const GemmShape& shape);

// What it has to move at least: each matrix once, of a convolution input, weights and output.
// Empty: a type is not known.
std::optional<double> LeastBytesOf(const GemmShape& shape);

// The first row of the call that `row` is the last one of: its own, or that of the first group of a
// grouped call. Rows of other threads may lie between the two.
std::uint32_t FirstOfCall(const Gemms& gemms, std::uint32_t row);

// "bf16" where that of the result is the same or not known, or "fp8 e4m3 x fp8 e5m2 = bf16" where
// the matrices differ; "type 99" for a type without a name here.
std::string MatrixTypes(const GemmShape& shape);

// The products of one shape and function.
struct MatrixProductRow {
  std::string function;
  GemmShape shape;  // its function is that of one rank only
  std::int64_t calls = 0, kernels = 0;
  double flops = 0;
  TimeNs kernel_ns = 0;
};

struct MatrixProducts {
  std::vector<MatrixProductRow> rows;  // by kernel time, largest first
  std::int64_t calls = 0;              // seen by the wrappers
  std::int64_t linked_calls = 0;       // of those, with kernels that were found
  double flops = 0;                    // of the linked ones
  TimeNs kernel_ns = 0;
};

// The products with a kernel in the ranges. O(calls + operations).
MatrixProducts LinkedMatrixProducts(const Rank& rank, const Device& device,
                                    const LibraryCalls& calls, const OpRanges& ranges);

// The same. Those without a kernel on any device count as calls, once a rank: with its first device
// that did work, if they were called in the windows.
MatrixProducts CountMatrixProducts(const Rank& rank, const Device& device,
                                   const LibraryCalls& calls, const OpRanges& ranges,
                                   const Intervals& windows);

// Sums by function and shape.
MatrixProducts MergeMatrixProducts(const std::vector<MatrixProducts>& parts);

}  // namespace traceinject
