// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/html/charts/chart.h"

namespace traceinject {

// What is drawn of a long series: of equally many points that follow each other, the extremes and
// the median. No extreme is lost.
struct Bucket {
  double from_x = 0, to_x = 0;  // of its first and last point
  double low = 0, median = 0, high = 0;
  std::size_t first = 0, count = 0;  // its points
};

// At most `most` (>= 1) buckets; one a point where there are no more. Points by x. O(n log n).
std::vector<Bucket> Downsample(const std::vector<Point>& points, std::size_t most);

}  // namespace traceinject
