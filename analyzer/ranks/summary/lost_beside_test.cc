// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/lost_beside.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// Twenty times a GEMM alone, and one beside an AllReduce of 24 blocks.
double Lost(TimeNs alone, TimeNs beside, const char* other = kGemm, std::optional<int> sms = 132) {
  RankBuilder builder;
  builder.rank().devices[0].sm_count = sms;
  for (int i = 0; i < 20; ++i) {
    const TimeNs at = i * 1'000 * kUs;
    builder.AddKernel(at, at + alone, kGemm, kNone, 0, 132);
    builder.AddKernel(at + 400 * kUs, at + 900 * kUs, kNccl, kNone, 0, 24);
    builder.AddKernel(at + 500 * kUs, at + 500 * kUs + beside, other, kNone, 0, 132);
  }
  return LostBesideCommunication(builder.rank(), builder.rank().devices[0]);
}

TEST(LostBesideCommunicationTest, KernelsThatRanBothWaysTell) {
  EXPECT_NEAR(Lost(100 * kUs, 150 * kUs), 1.0 / 3, 1e-9);
}

TEST(LostBesideCommunicationTest, AtLeastTheMultiprocessorsThatAreHeld) {
  EXPECT_NEAR(Lost(100 * kUs, 101 * kUs), 24.0 / 132, 1e-9);
  EXPECT_NEAR(Lost(100 * kUs, 150 * kUs, "another_kernel"), 24.0 / 132, 1e-9);
}

TEST(LostBesideCommunicationTest, NothingWhereNothingIsKnown) {
  EXPECT_EQ(Lost(100 * kUs, 100 * kUs, kGemm, std::nullopt), 0);
  const Rank empty;
  EXPECT_EQ(LostBesideCommunication(empty, Device()), 0);
}

}  // namespace
}  // namespace traceinject
