// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/downsample.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(DownsampleTest, FewPointsStayThemselves) {
  const std::vector<Bucket> buckets = Downsample({{1, 10}, {2, 30}}, 5);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[1].from_x, 2);
  EXPECT_EQ(buckets[1].low, 30);
  EXPECT_EQ(buckets[1].high, 30);
  EXPECT_TRUE(Downsample({}, 5).empty());
}

TEST(DownsampleTest, NoPointAndNoExtremeIsLost) {
  std::vector<Point> points;
  for (int i = 0; i < 1003; ++i) points.push_back({static_cast<double>(i), 5});
  points[700].y = 99;
  points[41].y = 1;
  const std::vector<Bucket> buckets = Downsample(points, 100);
  ASSERT_EQ(buckets.size(), 100u);
  std::size_t count = 0;
  double low = 5, high = 5;
  for (const Bucket& bucket : buckets) {
    EXPECT_EQ(bucket.first, count);
    EXPECT_EQ(bucket.median, 5);
    count += bucket.count;
    low = std::min(low, bucket.low);
    high = std::max(high, bucket.high);
  }
  EXPECT_EQ(count, points.size());
  EXPECT_EQ(low, 1);
  EXPECT_EQ(high, 99);
}

}  // namespace
}  // namespace traceinject
