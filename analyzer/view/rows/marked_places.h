// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// What a row of a table about code is of, as the report has it.
struct CodeKey {
  std::string file, function;
  std::int32_t line = 0;  // 0: the whole function
};

// Places in the code that are picked out on the timeline, of all ranks.
class MarkedPlaces {
 public:
  // None.
  MarkedPlaces() = default;
  // O(places).
  MarkedPlaces(const Run& run, const CodeKey& key);

  bool empty() const { return !first_; }
  bool Has(std::uint32_t rank, std::uint32_t place) const { return marked_[rank][place]; }
  // Rank and place of the first one.
  const std::optional<std::pair<std::uint32_t, std::uint32_t>>& first() const { return first_; }

 private:
  std::vector<std::vector<bool>> marked_;  // by rank and place; empty: none
  std::optional<std::pair<std::uint32_t, std::uint32_t>> first_;
};

}  // namespace traceinject
