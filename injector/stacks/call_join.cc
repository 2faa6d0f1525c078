// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/call_join.h"

#include <algorithm>
#include <tuple>

#include "injector/stacks/stack_sampler.h"

namespace traceinject {

void CallJoin::Add(const StackSampleRow& row, std::int64_t end, const Origin& origin) {
  waiting_.push_back({row, end, INT64_MAX, 0, origin});
  is_sorted_ = false;
}

// Of a launch any of the calls, with equal chances (reservoir sampling).
bool CallJoin::IsTheOne(const Waiting& stack, const ApiRow& call) {
  if (stack.row.kind != StackSampler::kLaunch) return call.start < stack.call_start;
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  return random_ % stack.calls == 0;
}

void CallJoin::Match(const std::vector<ApiRow>& calls) {
  if (waiting_.empty()) return;
  const auto before = [](const Waiting& one, const Waiting& other) {
    return std::tie(one.row.thread, one.row.time) < std::tie(other.row.thread, other.row.time);
  };
  if (!is_sorted_) std::sort(waiting_.begin(), waiting_.end(), before);
  is_sorted_ = true;
  for (const ApiRow& call : calls) {
    // The last that began no later than the call.
    auto found = std::partition_point(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
      return std::tie(one.row.thread, one.row.time) <= std::tie(call.thread, call.start);
    });
    if (found == waiting_.begin()) continue;
    --found;
    if (found->row.thread != call.thread || call.start > found->end) continue;
    ++found->calls;
    if (!IsTheOne(*found, call)) continue;
    found->call_start = call.start;
    found->row.has_correlation = true;
    found->row.correlation = call.correlation;
  }
}

void CallJoin::Settle(std::int64_t now, bool everything, std::vector<StackSampleRow>* to) {
  const bool is_full = waiting_.size() > kMaxWaiting;
  std::erase_if(waiting_, [&](const Waiting& one) {
    if (!everything && !is_full && !one.row.has_correlation && now - one.end < kLongestWaitNs)
      return false;
    to->push_back(one.row);
    return true;
  });
}

}  // namespace traceinject
