// SPDX-License-Identifier: Apache-2.0
// Spells in a series during which it lies above its usual level.
#pragma once

#include <cstddef>
#include <vector>

namespace traceinject {

inline constexpr std::size_t kMinSpellSteps = 10;
inline constexpr double kMinSpellChange = 0.10;

struct RaisedSpell {
  std::size_t from = 0, to = 0;  // [from, to) of the series
  double change = 0;             // median inside over that of what is in no spell
};

// Spells of kMinSpellSteps values or more, kMinSpellChange or more above the rest, of which
// there must be as many. A spell is where the median of five neighbors is above the usual level by
// half of that; single values do not end it. So that mere noise is none, it must be 3 scaled median
// absolute deviations of the rest above it, and four fifths of the values inside must lie above the
// middle between the two levels, of those outside below it.
// O(n log n).
std::vector<RaisedSpell> FindRaisedSpells(const std::vector<double>& series);

}  // namespace traceinject
