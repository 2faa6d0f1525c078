// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/event_tables.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

Batch SomeRows() {
  Batch batch;
  batch.kernels.resize(3);
  batch.device_samples.resize(1);
  batch.device_slow_samples.resize(2);
  batch.strings.resize(4);
  batch.clock_pairs.resize(1);
  return batch;
}

std::int64_t At(const CounterValues& values, Health id) {
  return values[static_cast<std::size_t>(id)];
}

TEST(EventTablesTest, TwoTablesMayHaveOneCounter) {
  const CounterValues rows = RowsToStore(SomeRows());
  EXPECT_EQ(At(rows, Health::kKernelStored), 3);
  EXPECT_EQ(At(rows, Health::kDeviceSampleStored), 3);
  EXPECT_EQ(EventRows(SomeRows()), 6U);
}

// What was announced with the rows is what is counted once they are written.
TEST(EventTablesTest, CountsWhatWasToBeStored) {
  const Batch batch = SomeRows();
  const CounterValues rows = RowsToStore(batch);
  CounterValues before{};
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = g_counters.Get(Health{i});
  CountStored(batch);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(g_counters.Get(Health{i}), before[i] + rows[i]) << kHealthCounters[i].source;
}

TEST(EventTablesTest, DictionariesOutliveDroppedEvents) {
  Batch batch = SomeRows();
  const std::int64_t before = g_counters.Get(Health::kKernelDropped);
  DropEvents(&batch);
  EXPECT_EQ(g_counters.Get(Health::kKernelDropped), before + 3);
  EXPECT_EQ(EventRows(batch), 0U);
  EXPECT_TRUE(batch.clock_pairs.empty());
  EXPECT_EQ(DictionaryRows(batch), 4U);
}

}  // namespace
}  // namespace traceinject
