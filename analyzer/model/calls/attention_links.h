// SPDX-License-Identifier: Apache-2.0
// Which attention call a kernel belongs to; see analyzer/metrics/kernels/attention.h for the rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

class AttentionLinks {
 public:
  // O(calls + products + api). The rank must outlive this.
  explicit AttentionLinks(const Rank& rank);

  // cuBLAS was called in it.
  bool by_products(std::size_t row) const { return by_products_[row]; }
  // The call that a kernel of this launch belongs to; kNone: none. O(1).
  std::uint32_t Of(std::uint32_t launch, KernelClass kernel_class) const {
    if (launch == kNone || of_launch_.empty()) return kNone;
    const std::uint32_t row = of_launch_[launch];
    if (row == kNone || by_products_[row]) return kNone;
    return has_end(row) || IsAttention(kernel_class) ? row : kNone;
  }

  static bool IsAttention(KernelClass kernel_class) {
    return kernel_class == KernelClass::kAttentionForward ||
           kernel_class == KernelClass::kAttentionBackward;
  }

 private:
  bool has_end(std::size_t row) const { return attentions_.end[row] != kOpen; }

  const Attentions& attentions_;
  TimeColumn end_;
  std::vector<bool> by_products_;
  std::vector<std::uint32_t> of_launch_;
};

}  // namespace traceinject
