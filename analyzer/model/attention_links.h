// SPDX-License-Identifier: Apache-2.0
// Which attention call a kernel belongs to; see analyzer/metrics/attention.h for the rule.
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
  std::uint32_t Of(std::uint32_t launch, KernelClass kernel_class) const;

  static bool IsAttention(KernelClass kernel_class);

 private:
  bool has_end(std::size_t row) const { return attentions_.end[row] != kOpen; }

  const Attentions& attentions_;
  std::vector<TimeNs> end_;
  std::vector<bool> by_products_;
  std::vector<std::uint32_t> of_launch_;
};

}  // namespace traceinject
