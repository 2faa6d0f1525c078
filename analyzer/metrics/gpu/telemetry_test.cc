// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/telemetry.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr Interval kAll{0, 1000 * kMs};

class TelemetryTest : public testing::Test {
 protected:
  void Sample(TimeNs time, int sm_clock_mhz, int reasons = 0, int power_mw = -1) {
    DeviceSamples& samples = device().samples;
    samples.time.push_back(time);
    samples.sm_clock_mhz.push_back(sm_clock_mhz);
    samples.memory_clock_mhz.push_back(-1);
    samples.power_mw.push_back(power_mw);
    samples.temperature_c.push_back(-1);
    samples.throttle_reasons.push_back(reasons);
    samples.sm_utilisation_pct.push_back(-1);
    samples.memory_utilisation_pct.push_back(-1);
    samples.memory_used_bytes.push_back(-1);
  }
  void SlowSample(TimeNs time, std::int64_t nvlink_sent, std::int64_t replays, int generation) {
    DeviceSlowSamples& samples = device().slow_samples;
    samples.time.push_back(time);
    samples.pcie_generation.push_back(generation);
    samples.pcie_width.push_back(16);
    samples.pcie_tx_bytes_s.push_back(1000 * (time / kMs));
    samples.pcie_rx_bytes_s.push_back(-1);
    samples.pcie_replays.push_back(replays);
    samples.nvlink_tx_bytes.push_back(nvlink_sent);
    samples.nvlink_rx_bytes.push_back(-1);
    samples.nvlink_replays.push_back(-1);
    samples.nvlink_recoveries.push_back(replays);
    samples.nvlink_crc_errors.push_back(replays);
    samples.ecc_corrected.push_back(-1);
    samples.ecc_uncorrected.push_back(-1);
  }
  Device& device() { return builder_.rank().devices[0]; }

  RankBuilder builder_;
};

TEST_F(TelemetryTest, MeansAreOverTimeAndTheClockOverTheBusyTime) {
  Sample(0, 1000, 0, 100'000);
  Sample(100 * kMs, 2000, 0, 700'000);
  Sample(400 * kMs, 1000, 0, 300'000);
  builder_.AddKernel(50 * kMs, 100 * kMs, "a");   // 50 ms at 1000 MHz
  builder_.AddKernel(150 * kMs, 300 * kMs, "b");  // 150 ms at 2000 MHz
  const SweptDevice swept = SweepDevice(device(), {{0, 500 * kMs}});
  const auto& found = swept.telemetry;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->samples, 3);
  EXPECT_EQ(found->sampled_ns, 500 * kMs);
  EXPECT_EQ(found->busy_ns, 200 * kMs);
  EXPECT_DOUBLE_EQ(*found->busy_sm_clock_mhz, 1750);
  EXPECT_DOUBLE_EQ(found->sm_clock_mhz->mean, 1600);
  EXPECT_DOUBLE_EQ(found->sm_clock_mhz->least, 1000);
  EXPECT_DOUBLE_EQ(found->sm_clock_mhz->most, 2000);
  EXPECT_DOUBLE_EQ(found->power_w->mean, (100 * 100 + 300 * 700 + 100 * 300) / 500.0);
  EXPECT_FALSE(found->temperature_c.has_value()) << "never known";
  EXPECT_TRUE(found->throttled.empty());
}

TEST_F(TelemetryTest, AWindowCutsSamplesAndABreakIsNoKnowledge) {
  Sample(0, 1000);
  Sample(10'000 * kMs, 2000);
  const SweptDevice swept = SweepDevice(device(), {{1000 * kMs, 11'000 * kMs}});
  const auto& found = swept.telemetry;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->sampled_ns, (1000 + 1000) * kMs) << "of the first until 2 s";
  EXPECT_DOUBLE_EQ(found->sm_clock_mhz->mean, 1500);
  EXPECT_FALSE(SweepDevice(device(), {{3000 * kMs, 9000 * kMs}}).telemetry.has_value());
}

TEST_F(TelemetryTest, ReasonsForALowerClockMayComeTogether) {
  Sample(0, 1000, 1);          // idle is none
  Sample(100 * kMs, 1000, 4);  // power cap
  Sample(200 * kMs, 1000, 4 | 64);
  Sample(300 * kMs, 1000, -1);
  builder_.AddKernel(150 * kMs, 400 * kMs, "a");
  const SweptDevice swept = SweepDevice(device(), {{0, 400 * kMs}});
  const auto& found = swept.telemetry;
  ASSERT_EQ(found->throttled.size(), 2U);
  EXPECT_EQ(found->throttled[0].reason, "power cap");
  EXPECT_EQ(found->throttled[0].ns, 200 * kMs);
  EXPECT_EQ(found->throttled[0].busy_ns, 150 * kMs);
  EXPECT_EQ(found->throttled[1].reason, "hardware thermal");
  EXPECT_EQ(found->throttled[1].busy_ns, 100 * kMs);
  EXPECT_EQ(found->throttled_busy_ns, 150 * kMs);
}

TEST_F(TelemetryTest, CountersOfTheDriverAreDifferences) {
  Sample(0, 1000);
  SlowSample(0, 5'000'000, 7, 1);
  SlowSample(100 * kMs, 6'000'000, 7, 5);
  SlowSample(300 * kMs, 12'000'000, 9, 5);
  SlowSample(400 * kMs, 1'000, 0, 5);  // the driver began anew
  const SweptDevice swept = SweepDevice(device(), {kAll});
  const auto& found = swept.telemetry;
  EXPECT_EQ(found->pcie_generation, 5);
  EXPECT_EQ(found->pcie_width, 16);
  EXPECT_DOUBLE_EQ(found->nvlink_sent->mean_bytes_s, 7'000'000 / 0.3);
  EXPECT_DOUBLE_EQ(found->nvlink_sent->most_bytes_s, 6'000'000 / 0.2);
  EXPECT_DOUBLE_EQ(found->pcie_sent->most_bytes_s, 400'000);
  EXPECT_FALSE(found->pcie_received.has_value());
  EXPECT_FALSE(found->nvlink_received.has_value());
  EXPECT_EQ(found->pcie_replays, 2);
  EXPECT_EQ(found->nvlink_errors, 4) << "recoveries and checksums";
  EXPECT_FALSE(found->ecc_corrected.has_value());
}

TEST_F(TelemetryTest, ThePartitionIsThatOfTheWholeWindow) {
  for (TimeNs time = 30; time < 400; time += 70) Sample(time * kMs, 1000, 0, 100'000);
  builder_.AddKernel(50 * kMs, 100 * kMs, "a");
  builder_.AddKernel(150 * kMs, 300 * kMs, "b");
  const Interval window{20 * kMs, 290 * kMs};
  const Partition swept = SweepDevice(device(), {window}).partition;
  EXPECT_EQ(swept.wall_ns, 270 * kMs);
  EXPECT_EQ(swept.compute_ns, 190 * kMs);
  EXPECT_EQ(swept.idle_ns, PartitionOf(device().ops, window).idle_ns);
}

TEST_F(TelemetryTest, SeveralWindowsAreThoseAlone) {
  for (TimeNs time = 0; time < 400; time += 100) Sample(time * kMs, time < 200 ? 1000 : 1400, 0, 0);
  builder_.AddKernel(50 * kMs, 100 * kMs, "a");
  builder_.AddKernel(150 * kMs, 300 * kMs, "b");
  const SweptDevice swept = SweepDevice(device(), {{20 * kMs, 80 * kMs}, {250 * kMs, 350 * kMs}});
  EXPECT_EQ(swept.partition.wall_ns, 160 * kMs);
  EXPECT_EQ(swept.partition.compute_ns, 80 * kMs);
  EXPECT_EQ(swept.partition.idle_ns, 80 * kMs);
  ASSERT_TRUE(swept.telemetry.has_value());
  EXPECT_EQ(swept.telemetry->samples, 3);
  EXPECT_EQ(swept.telemetry->sampled_ns, 160 * kMs);
  EXPECT_EQ(swept.telemetry->busy_ns, 80 * kMs);
  EXPECT_DOUBLE_EQ(*swept.telemetry->busy_sm_clock_mhz, (30 * 1000.0 + 50 * 1400.0) / 80);
}

}  // namespace
}  // namespace traceinject
