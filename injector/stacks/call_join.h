// SPDX-License-Identifier: Apache-2.0
// Leads a stack that a wrapper took to the call that it was taken at: CUPTI tells of the call
// later, and under a number that the wrapper does not know. It is a call of the thread that began
// inside the wrapper's: of a wait the first one. What launches makes several, such as a product
// that clears its workspace first: each is the one as often as the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "injector/rows/rows.h"

namespace traceinject {

class CallJoin {
 public:
  // Later than this, the record of a call is not waited for.
  static constexpr std::int64_t kLongestWaitNs = 5'000'000'000;
  static constexpr std::size_t kMaxWaiting = 100'000;

  // What the ids of a row stand for. The tables forget ids that are not used for a while.
  struct Origin {
    std::int64_t tid = 0;
    std::uint32_t node = 0;  // of the book; 0: it is forgotten
  };

  // The wrapper's call ended at `end`.
  void Add(const StackSampleRow& row, std::int64_t end, const Origin& origin);
  // renew(Origin*, StackSampleRow*) for each that waits, in each flush.
  template <typename Renew>
  void ForEach(Renew renew) {
    for (Waiting& one : waiting_) renew(&one.origin, &one.row);
    is_sorted_ = false;
  }
  // At calls that are about to be stored. O(calls x log stacks).
  void Match(const std::vector<ApiRow>& calls);
  // Appends those that found their call, or that have waited long enough at `now`, or all.
  void Settle(std::int64_t now, bool everything, std::vector<StackSampleRow>* to);

 private:
  struct Waiting {
    StackSampleRow row;
    std::int64_t end;
    std::int64_t call_start;  // of the one that it found
    std::uint32_t calls = 0;  // that it could have been
    Origin origin;
  };

  bool IsTheOne(const Waiting& stack, const ApiRow& call);

  std::vector<Waiting> waiting_;
  bool is_sorted_ = true;
  std::uint32_t random_ = 2463534242;
};

}  // namespace traceinject
