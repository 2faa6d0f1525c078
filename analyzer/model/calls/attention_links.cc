// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/calls/attention_links.h"

#include <algorithm>

#include "analyzer/model/calls/calls_on_threads.h"

namespace traceinject {
AttentionLinks::AttentionLinks(const Rank& rank)
    : attentions_(rank.attentions), end_(attentions_.end) {
  if (attentions_.size() == 0) return;
  // Of each thread, the attention call and the product that come next, seen from the end.
  std::vector<TimeNs> next(rank.threads.size(), kOpen), next_product(rank.threads.size(), kOpen);
  std::size_t product = rank.gemms.size();  // all from here on are in next_product
  by_products_.resize(attentions_.size());
  for (std::size_t row = attentions_.size(); row-- > 0;) {
    const std::uint32_t thread = attentions_.thread[row];
    const TimeNs start = attentions_.start[row];
    for (; product > 0 && rank.gemms.start[product - 1] >= start; --product)
      next_product[rank.gemms.thread[product - 1]] = rank.gemms.start[product - 1];
    if (has_end(row)) {
      by_products_[row] = next_product[thread] < end_[row];
    } else {
      end_.Set(row, std::min(next[thread], next_product[thread]));
    }
    next[thread] = start;
  }
  of_launch_ = CallAround(rank, attentions_.start, end_, attentions_.thread);
}

}  // namespace traceinject
