// SPDX-License-Identifier: Apache-2.0
// In which call of a library each CUDA call of a process was made: a GEMM, attention.
// Built once a process; all that is counted by such calls asks it.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/calls/attention_links.h"
#include "analyzer/model/run.h"

namespace traceinject {

class LibraryCalls {
 public:
  // O(api + products + attention calls). The rank must outlive this.
  explicit LibraryCalls(const Rank& rank);

  // Row of Rank::gemms of the product that a launch was made in, of a grouped call the last one;
  // kNone: in none. O(1).
  std::uint32_t ProductOf(std::uint32_t launch) const {
    return launch == kNone || products_.empty() ? kNone : products_[launch];
  }
  const AttentionLinks& attentions() const { return attentions_; }

 private:
  std::vector<std::uint32_t> products_;  // per call; empty: there are no products
  AttentionLinks attentions_;
};

}  // namespace traceinject
