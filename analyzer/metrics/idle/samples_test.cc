// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/samples.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr Interval kAll{0, 1000 * kMs};

// Steps of 10 ms; each fetches `batches` batches of 32 samples before its mark.
RankBuilder Training(int steps, int batches = 1) {
  RankBuilder builder;
  for (int step = 0; step < steps; ++step) {
    for (int batch = 0; batch < batches; ++batch) {
      const TimeNs start = step * 10 * kMs + (batch + 1) * kMs;
      builder.AddDataWait(start, start + 1000, 0, 0, 32);
      builder.rank().data_waits.batch.back() = step * batches + batch;
    }
    builder.AddStepMark(step * 10 * kMs + 9 * kMs);
  }
  return builder;
}

TEST(Samples, OfTheBatchesBetweenSteps) {
  RankBuilder builder = Training(11);
  const auto found = CountSamples(builder.rank(), kAll);
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->per_step, 32);
  EXPECT_DOUBLE_EQ(found->per_second, 3200);
}

TEST(Samples, SeveralBatchesBeforeOneStepAddUp) {
  RankBuilder builder = Training(11, 4);
  EXPECT_DOUBLE_EQ(CountSamples(builder.rank(), kAll)->per_step, 128);
}

TEST(Samples, AnotherLoaderWithFewerBatchesIsNotCounted) {
  RankBuilder builder = Training(11);
  builder.AddDataWait(50 * kMs, 51 * kMs, 1, 0, 1000);
  builder.rank().data_waits.batch.back() = 0;
  EXPECT_DOUBLE_EQ(CountSamples(builder.rank(), kAll)->per_step, 32);
}

TEST(Samples, UnknownWhereABatchIs) {
  RankBuilder builder = Training(11);
  builder.rank().data_waits.samples[5] = -1;
  EXPECT_FALSE(CountSamples(builder.rank(), kAll).has_value());
}

TEST(Samples, AWaitWithoutABatchHasNone) {
  RankBuilder builder = Training(11);
  builder.AddDataWait(50 * kMs, 51 * kMs, 0);  // the end of a pass
  EXPECT_DOUBLE_EQ(CountSamples(builder.rank(), kAll)->per_step, 32);
}

TEST(Samples, UnknownWithoutStepsOrBatches) {
  EXPECT_FALSE(CountSamples(Training(1).rank(), kAll).has_value());
  EXPECT_FALSE(CountSamples(Training(11, 0).rank(), kAll).has_value());
  EXPECT_FALSE(CountSamples(Training(11).rank(), {0, 10 * kMs}).has_value());
}

}  // namespace
}  // namespace traceinject
