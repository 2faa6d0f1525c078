// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/downsample.h"

#include <algorithm>

namespace traceinject {

std::vector<Bucket> Downsample(const std::vector<Point>& points, std::size_t most) {
  std::vector<Bucket> buckets;
  const std::size_t count = std::min(most, points.size());
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = points.size() * i / count, end = points.size() * (i + 1) / count;
    values.clear();
    for (std::size_t point = first; point < end; ++point) values.push_back(points[point].y);
    std::sort(values.begin(), values.end());
    buckets.push_back({points[first].x, points[end - 1].x, values.front(),
                       values[(values.size() - 1) / 2], values.back(), first, end - first});
  }
  return buckets;
}

}  // namespace traceinject
