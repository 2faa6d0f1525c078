// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/align_sequences.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace traceinject {
namespace {

using Items = std::span<const SequenceItem>;

constexpr std::size_t kLookAhead = 256;  // items that one sequence may lack in a row

// How many items to leave out on either side so that the two after them agree again.
std::optional<std::pair<std::size_t, std::size_t>> NextAgreement(Items a, std::size_t i, Items b,
                                                                 std::size_t j) {
  const auto agree = [&](std::size_t x, std::size_t y) {
    return x < a.size() && y < b.size() && a[x].kind == b[y].kind;
  };
  for (std::size_t left_out = 1; left_out < kLookAhead; ++left_out) {
    for (std::size_t of_a = 0; of_a <= left_out; ++of_a) {
      const std::size_t x = i + of_a, y = j + left_out - of_a;
      const bool at_end = x + 1 >= a.size() || y + 1 >= b.size();
      if (agree(x, y) && (at_end || agree(x + 1, y + 1))) return std::pair{x, y};
    }
  }
  return std::nullopt;
}

// Pairs of indices that belong together when the first `skip_a` or `skip_b` are left out.
AlignedPairs AlignFrom(Items a, std::size_t skip_a, Items b, std::size_t skip_b) {
  AlignedPairs pairs;
  std::size_t i = skip_a, j = skip_b;
  while (i < a.size() && j < b.size()) {
    if (a[i].kind == b[j].kind) {
      pairs.emplace_back(i++, j++);
    } else if (const auto next = NextAgreement(a, i, b, j)) {
      std::tie(i, j) = *next;
    } else {
      break;
    }
  }
  return pairs;
}

}  // namespace

AlignedPairs AlignSequences(Items a, Items b) {
  AlignedPairs from_start = AlignFrom(a, 0, b, 0);
  if (a.size() == b.size()) return from_start;
  const std::size_t shorter = std::min(a.size(), b.size());
  AlignedPairs to_end = AlignFrom(a, a.size() - shorter, b, b.size() - shorter);
  const auto rank = [&](const AlignedPairs& pairs) {
    double apart = 0;
    for (const auto& [i, j] : pairs) apart += std::abs(static_cast<double>(a[i].time - b[j].time));
    return std::pair(-static_cast<double>(pairs.size()), apart);
  };
  return rank(to_end) < rank(from_start) ? to_end : from_start;
}

}  // namespace traceinject
