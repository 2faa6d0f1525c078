// SPDX-License-Identifier: Apache-2.0
// What the name of a kernel tells of the numbers it works on, the units it uses and the GPU that it
// was built for. What a name does not report is unknown, never guessed.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/model/run.h"

namespace traceinject {

struct KernelTraits {
  // "fp4", "fp8", "int8", "bf16", "tf32", "fp16", "fp64", "fp32": of the matrices for products, the
  // narrowest that is named for others. Empty: not reported.
  std::string_view dtype;
  std::optional<bool> tensor_cores;  // empty: not reported
  // Ten times the compute capability: 75, 80, 90, 100, ...; empty: not reported.
  std::optional<int> architecture;
  // Multiplies matrices by the instructions of one warp (mma.sync), as GPUs before Hopper do it.
  // From Hopper on those of a warp group (wgmma) are faster.
  bool warp_products = false;
};

// Of a demangled name. O(length of the name x rules): once for each distinct name.
KernelTraits TraitsOf(std::string_view demangled_name, KernelClass kernel_class);

// A kernel that only prepares or finishes what others compute: sums of a product split over k,
// biases, changes of the layout around a convolution, conversions around the backward pass of
// attention.
bool IsHelperKernel(std::string_view demangled_name);

}  // namespace traceinject
