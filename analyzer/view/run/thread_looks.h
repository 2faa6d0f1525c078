// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// How often a thread was looked at, and what it was found at.
struct ThreadLooks {
  struct At {
    // Looks at which the place was the innermost one of the program's own code; at which it was on
    // the stack.
    std::int64_t innermost = 0, anywhere = 0;
  };
  std::int64_t all = 0;
  std::unordered_map<std::uint32_t, At> at;  // by place

  At of(std::uint32_t place) const {
    const auto found = at.find(place);
    return found == at.end() ? At{} : found->second;
  }
};

// By thread of the rank. O(samples + stacks x depth).
std::vector<ThreadLooks> CountLooksOfThreads(const Rank& rank);

}  // namespace traceinject
