// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/sample_series.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/view/rows/rows.h"
#include "machine/testing/temporary_folder.h"
#include "viewer/core/load/background_load.h"

namespace traceinject {
namespace {

class SampleSeriesTest : public testing::Test {
 protected:
  // What a run of five seconds with these samples looks like.
  template <typename AddRows>
  void Load(AddRows add_rows) {
    RunDbFixture file(path_, {.end_ns = 5 * kSecond});
    file.AddLaunchedKernel({.start_ns = kSecond, .dur_ns = 3 * kSecond}, 0, 1000);
    add_rows(file);
    file.Close();
    LoadResult loaded = LoadWithRows({path_}, {});
    ASSERT_TRUE(loaded.ok()) << loaded.error();
    loaded_ = std::move(loaded).value();
  }
  const Row* Find(const std::string& label) const {
    const auto& rows = loaded_->rows.rows;
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.kind == RowKind::kSamples && row.label == label;
    });
    return found == rows.end() ? nullptr : &*found;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  std::unique_ptr<const LoadedRun> loaded_;
};

TEST_F(SampleSeriesTest, FiguresOfADeviceAreRowsOfIt) {
  Load([](RunDbFixture& file) {
    file.AddDeviceSample({.time_ns = kSecond, .sm_clock_mhz = 1980, .power_mw = 699'500});
    file.AddDeviceSample({.time_ns = 2 * kSecond, .sm_clock_mhz = 1200, .power_mw = 300'000});
    file.AddDeviceSample({.time_ns = 3 * kSecond});
  });
  const Row* clock = Find("SM clock");
  ASSERT_NE(clock, nullptr);
  const Row& heading = loaded_->rows.rows[clock->parent];
  EXPECT_EQ(heading.kind, RowKind::kSampleHeading);
  EXPECT_EQ(heading.note, "SM clock 1200 to 1980 MHz, power 300 to 699 W");
  EXPECT_EQ(loaded_->rows.rows[heading.parent].kind, RowKind::kDevice);
  EXPECT_EQ(clock->note, "1200 to 1980 MHz");
  EXPECT_EQ(clock->counter->At(2 * kSecond - 1), 1980);
  EXPECT_EQ(clock->counter->At(4 * kSecond), 1200) << "what is unknown leaves the value before it";
  ASSERT_NE(Find("power"), nullptr);
  EXPECT_EQ(Find("power")->counter->At(kSecond), 699);
  EXPECT_EQ(Find("temperature"), nullptr) << "never known";
}

TEST_F(SampleSeriesTest, HardwareCountersStandUnderTheirDevice) {
  Load([](RunDbFixture& file) {
    file.AddCounterSet("gpm", kSecond / 10, {"tensor_active", "l2_hit"});
    file.AddCounterSamples({.start_ns = kSecond,
                            .period_ns = kSecond / 10,
                            .values = {{500, 900}, {625, -1}, {40, 100}}});
    file.AddCounterSamples(
        {.start_ns = 3 * kSecond, .period_ns = kSecond / 10, .values = {{90, 100}}});
  });
  const Row* tensor = Find("tensor active");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(loaded_->rows.rows[tensor->parent].kind, RowKind::kDevice);
  EXPECT_EQ(tensor->note, "0 to 62 %");
  const CounterSamples& samples = loaded_->run.ranks[0].devices[0].counters;
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(tensor->counter->At(samples.start[0]), 50);
  EXPECT_EQ(tensor->counter->At(samples.end[2] + 1), 0) << "samples are missing";
  EXPECT_EQ(tensor->counter->At(samples.start[3]), 9);
  const Row* hits = Find("l2 hit");
  ASSERT_NE(hits, nullptr);
  EXPECT_EQ(loaded_->rows.rows[hits->parent].kind, RowKind::kSampleHeading);
  EXPECT_EQ(hits->counter->At(samples.start[1]), 90)
      << "what is unknown leaves the value before it";
}

TEST_F(SampleSeriesTest, MemoryOfTheAllocatorIsThereWithoutOtherSamples) {
  Load([](RunDbFixture& file) {
    file.AddAllocatorSample(
        {.time_ns = kSecond, .allocated_bytes = 3 << 20, .reserved_bytes = 8 << 20});
    file.AddAllocatorSample(
        {.time_ns = 2 * kSecond, .allocated_bytes = 5 << 20, .reserved_bytes = 8 << 20});
  });
  const Row* allocated = Find("PyTorch allocated");
  ASSERT_NE(allocated, nullptr);
  EXPECT_EQ(loaded_->rows.rows[allocated->parent].kind, RowKind::kSampleHeading);
  EXPECT_EQ(allocated->note, "3 to 5 MiB");
  ASSERT_NE(Find("PyTorch reserved"), nullptr);
  EXPECT_EQ(Find("PyTorch reserved")->note, "8 MiB");
  EXPECT_EQ(Find("PyTorch active"), nullptr) << "never known";
}

TEST_F(SampleSeriesTest, ProcessorTimeIsOfAllThreads) {
  Load([](RunDbFixture& file) {
    file.AddHostSample({.time_ns = kSecond, .tid = 1, .cpu_ns = 7 * kSecond});
    file.AddHostSample({.time_ns = kSecond, .tid = 2, .cpu_ns = 0});
    file.AddHostSample({.time_ns = 2 * kSecond, .tid = 1, .cpu_ns = 8 * kSecond});
    file.AddHostSample({.time_ns = 2 * kSecond, .tid = 2, .cpu_ns = kSecond / 2});
    file.AddHostSample({.time_ns = 3 * kSecond, .tid = 1, .cpu_ns = 8 * kSecond});
  });
  const Row* cpu = Find("CPU of all threads");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(loaded_->rows.rows[cpu->parent].kind, RowKind::kHost);
  EXPECT_EQ(cpu->counter->At(kSecond), 150);
  EXPECT_EQ(cpu->counter->At(2 * kSecond), 0);
  EXPECT_EQ(Find("CPU of data workers"), nullptr);
}

TEST_F(SampleSeriesTest, WorkersThatEndBetweenRounds) {
  Load([](RunDbFixture& file) {
    for (int i = 0; i < 2; ++i) file.AddWorker({.pid = 50 + i});
    file.AddWorkerSample({.time_ns = kSecond, .worker = 1, .cpu_ns = 0});
    file.AddWorkerSample({.time_ns = kSecond, .worker = 2, .cpu_ns = 0});
    file.AddWorkerSample({.time_ns = 3 * kSecond / 2, .worker = 2, .cpu_ns = kSecond / 2});
    file.AddWorkerSample({.time_ns = 2 * kSecond, .worker = 1, .cpu_ns = kSecond});
  });
  const Row* cpu = Find("CPU of data workers");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->counter->At(kSecond), 200);
  EXPECT_EQ(cpu->counter->At(3 * kSecond / 2), 100);
  EXPECT_EQ(cpu->counter->At(2 * kSecond), 0);
}

}  // namespace
}  // namespace traceinject
