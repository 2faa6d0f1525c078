// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/false_discovery.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace traceinject {
namespace {

// The fifteen values of the example in the paper, of which it rejects the four smallest at 5 %.
TEST(FalseDiscoveryTest, TheExampleOfThePaper) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> adjusted = AdjustedP(p);
  EXPECT_EQ(std::count_if(adjusted.begin(), adjusted.end(),
                          [](double value) { return value <= kFalseDiscoveryRate; }),
            4);
  EXPECT_NEAR(adjusted[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_DOUBLE_EQ(adjusted[14], 1);
}

TEST(FalseDiscoveryTest, OrderDoesNotMatter) {
  EXPECT_EQ(AdjustedP({}), std::vector<double>{});
  EXPECT_EQ(AdjustedP({0.01}), std::vector<double>{0.01});
  const std::vector<double> adjusted = AdjustedP({0.04, 0.01, 0.03});
  EXPECT_NEAR(adjusted[0], 0.04, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.03, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.04, 1e-12);
}

}  // namespace
}  // namespace traceinject
