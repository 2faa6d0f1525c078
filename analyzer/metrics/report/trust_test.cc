// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/trust.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

// What was set aside is no part of the operations that are left.
TEST(Trust, SharesAreOfAllOperations) {
  traceinject::Run run;
  run.ranks.emplace_back().trust.outside = 300;
  run.ranks.front().trust.operations = 100;
  const TrustJudgement judgement = JudgeTrust(run, {});
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].name, "outside");
  EXPECT_DOUBLE_EQ(judgement.findings[0].share.value(), 0.75);
}

}  // namespace
}  // namespace traceinject
