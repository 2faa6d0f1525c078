// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/remainders.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace traceinject {

std::vector<std::int64_t> LargestRemainders(const std::vector<std::int64_t>& parts,
                                            std::int64_t units) {
  std::vector<std::int64_t> given(parts.size()), remainder(parts.size());
  const std::int64_t whole = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  if (whole == 0) return given;
  std::int64_t left = units;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // 128 bits: a month of nanoseconds times 10^5 does not fit in 64.
    const __int128 scaled = static_cast<__int128>(parts[i]) * units;
    given[i] = static_cast<std::int64_t>(scaled / whole);
    remainder[i] = static_cast<std::int64_t>(scaled % whole);
    left -= given[i];
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++given[order[i]];
  return given;
}

}  // namespace traceinject
