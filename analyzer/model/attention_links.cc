// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attention_links.h"

#include <algorithm>

#include "analyzer/model/calls_on_threads.h"

namespace traceinject {
namespace {

using Times = std::vector<TimeNs>;

std::vector<Times> StartsByThread(const Rank& rank, const Gemms& gemms) {
  std::vector<Times> starts(rank.threads.size());
  for (std::size_t row = 0; row < gemms.size(); ++row)
    starts[gemms.thread[row]].push_back(gemms.start[row]);
  return starts;
}

// The first that is later than `time`; kOpen: none.
TimeNs FirstAfter(const Times& sorted, TimeNs time) {
  const auto found = std::upper_bound(sorted.begin(), sorted.end(), time);
  return found == sorted.end() ? kOpen : *found;
}

}  // namespace

AttentionLinks::AttentionLinks(const Rank& rank)
    : attentions_(rank.attentions), end_(attentions_.end) {
  const std::vector<Times> products = StartsByThread(rank, rank.gemms);
  std::vector<TimeNs> next(rank.threads.size(), kOpen);
  by_products_.resize(attentions_.size());
  for (std::size_t row = attentions_.size(); row-- > 0;) {
    const std::uint32_t thread = attentions_.thread[row];
    const TimeNs start = attentions_.start[row];
    const TimeNs product = FirstAfter(products[thread], start - 1);
    if (has_end(row)) {
      by_products_[row] = product < end_[row];
    } else {
      end_[row] = std::min(next[thread], product);
    }
    next[thread] = start;
  }
  of_launch_ = CallAround(rank, attentions_.start, end_, attentions_.thread);
}

std::uint32_t AttentionLinks::Of(std::uint32_t launch, KernelClass kernel_class) const {
  if (launch == kNone) return kNone;
  const std::uint32_t row = of_launch_[launch];
  if (row == kNone || by_products_[row]) return kNone;
  return has_end(row) || IsAttention(kernel_class) ? row : kNone;
}

bool AttentionLinks::IsAttention(KernelClass kernel_class) {
  return kernel_class == KernelClass::kAttentionForward ||
         kernel_class == KernelClass::kAttentionBackward;
}

}  // namespace traceinject
