// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/write_telemetry.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(WriteTelemetry, LimitsComeFromTheFactsOfTheDevice) {
  RankBuilder builder;
  builder.rank().facts = {{"gpu", "0.power_limit_mw", "400000", ""},
                          {"gpu", "1.power_limit_mw", "700000", ""},
                          {"gpu", "1.pcie_width_most", "16", ""},
                          {"gpu", "1.pcie_generation_most", "", "the driver does not tell"},
                          {"host", "1.sm_clock_most_mhz", "1980", ""}};
  Telemetry sampled;
  sampled.samples = 3;
  sampled.power_w = SampledFigure{100, 250, 700};
  sampled.nvlink_sent = LinkTraffic{2e9, 5e9};
  sampled.ecc_corrected = 0;
  proto::Telemetry to;
  WriteTelemetry(builder.rank(), 1, sampled, to);
  EXPECT_EQ(to.samples(), 3);
  EXPECT_EQ(to.power_w().mean(), 250);
  EXPECT_EQ(to.power_limit_w(), 700);
  EXPECT_EQ(to.pcie_width_most(), 16);
  EXPECT_FALSE(to.has_pcie_generation_most()) << "not told";
  EXPECT_FALSE(to.has_highest_sm_clock_mhz()) << "not of a GPU";
  EXPECT_EQ(to.nvlink_sent().most_gb_per_s(), 5);
  EXPECT_FALSE(to.has_nvlink_received());
  EXPECT_TRUE(to.has_ecc_corrected());
  EXPECT_FALSE(to.has_ecc_uncorrected());
}

TEST(WriteTelemetry, CountersAreTheWholeRecordings) {
  CounterSamples samples;
  samples.source = CounterSource::kPmSampling;
  samples.period_ns = 1000;
  samples.start = {0, 5000};
  samples.end = {1000, 6000};
  samples.columns.resize(2);
  samples.gaps = {{1000, 5000}};
  samples.clock.uncertainty = 70;
  samples.clock.edges = 9;
  proto::CounterSampling to;
  WriteCounterSampling(samples, to);
  EXPECT_EQ(to.source(), "PM sampling");
  EXPECT_EQ(to.samples(), 2);
  EXPECT_EQ(to.counters(), 2);
  EXPECT_EQ(to.period_ns(), 1000);
  EXPECT_EQ(to.gaps(), 1);
  EXPECT_EQ(to.gap_ns(), 4000);
  EXPECT_EQ(to.uncertainty_ns(), 70);
  EXPECT_EQ(to.edges(), 9);
}

TEST(WriteTelemetry, SamplesOfTheWindow) {
  DeviceSamples samples;
  for (const TimeNs time : {900, 1000, 1500, 2000}) {
    samples.time.push_back(time);
    samples.sm_clock_mhz.push_back(1980);
    samples.power_mw.push_back(time == 1000 ? 250'500 : -1);
    samples.temperature_c.push_back(-1);
    samples.memory_used_bytes.push_back(time);
  }
  proto::DeviceReport to;
  WriteDeviceSamples(samples, {1000, 2000}, 400, to);
  ASSERT_EQ(to.device_samples_size(), 2);
  EXPECT_EQ(to.device_samples(0).time_ns(), 600);
  EXPECT_EQ(to.device_samples(0).sm_clock_mhz(), 1980);
  EXPECT_DOUBLE_EQ(to.device_samples(0).power_w(), 250.5);
  EXPECT_FALSE(to.device_samples(0).has_temperature_c()) << "not told";
  EXPECT_FALSE(to.device_samples(1).has_power_w());
  EXPECT_EQ(to.device_samples(1).memory_used_bytes(), 1500);
}

}  // namespace
}  // namespace traceinject
