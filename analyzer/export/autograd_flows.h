// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analyzer/model/run.h"

namespace traceinject {

// The arrows from forward operators to their backward: from the last one that began with a sequence
// number, which made the node of the graph, to the first of the backward.
class AutogradFlows {
 public:
  // O(operators).
  explicit AutogradFlows(const Rank& rank);

  // Of a row of Rank::profiled. O(1).
  bool BeginsAt(std::uint32_t row) const;
  bool EndsAt(std::uint32_t row) const;

 private:
  struct Ends {
    std::uint32_t forward = kNone, backward = kNone;
    bool is_whole() const { return forward != kNone && backward != kNone; }
  };
  const Ends* Find(std::uint32_t row) const;

  const ProfiledRanges& ranges_;
  std::unordered_map<std::int64_t, Ends> ends_;  // by sequence number
};

}  // namespace traceinject
