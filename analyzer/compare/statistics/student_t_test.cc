// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/student_t.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

// Quantiles as in NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
TEST(StudentTTest, QuantilesOfTheHandbook) {
  EXPECT_NEAR(TwoSidedT(0.05, 1), 12.706, 5e-4);
  EXPECT_NEAR(TwoSidedT(0.05, 5), 2.571, 5e-4);
  EXPECT_NEAR(TwoSidedT(0.05, 30), 2.042, 5e-4);
  EXPECT_NEAR(TwoSidedT(0.01, 10), 3.169, 5e-4);
  EXPECT_NEAR(TwoSidedT(0.05, 1e6), 1.960, 5e-4);
}

TEST(StudentTTest, ProbabilityAndQuantileAreInverse) {
  for (const double degrees : {1.0, 2.7, 6.0, 40.0, 900.0}) {
    for (const double p : {0.9, 0.5, 0.05, 1e-3, 1e-6})
      EXPECT_NEAR(TwoSidedP(TwoSidedT(p, degrees), degrees) / p, 1, 1e-6) << degrees << " " << p;
  }
  EXPECT_EQ(TwoSidedP(0, 5), 1);
  EXPECT_GT(TwoSidedP(50, 5), 0);
  EXPECT_LT(TwoSidedP(50, 5), 1e-6);
}

}  // namespace
}  // namespace traceinject
