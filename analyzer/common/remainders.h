// SPDX-License-Identifier: Apache-2.0
// Rounding of parts so that what is printed adds up.
#pragma once

#include <cstdint>
#include <vector>

namespace traceinject {

// `units` divided in proportion to the parts, none of which is negative, by largest remainders
// (Hare-Niemeyer): each part gets its share rounded down, and those with the largest remainders one
// more, the first of equals. The results add up to `units`; all are 0 if the parts are.
// O(parts log parts).
std::vector<std::int64_t> LargestRemainders(const std::vector<std::int64_t>& parts,
                                            std::int64_t units);

}  // namespace traceinject
