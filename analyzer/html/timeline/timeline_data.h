// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/view/excerpt/excerpt.h"

namespace traceinject {

// The excerpt as JSON, as timeline.js reads it. Times are nanoseconds from the start of the
// excerpt. A lane is one text: spans, separated by commas, of numbers in base 36, separated by
// spaces:
//   gap duration look                               an event; the gap is from the end before
//   gap duration look wait                          a collective that waited for other ranks
//   gap duration look count busy                    several events; the look is the longest one's
//   gap duration look count busy busy busy busy     likewise, then by category
// A counter is such a text of "gap duration least most". O(spans).
std::string TimelineData(const Excerpt& excerpt);

}  // namespace traceinject
