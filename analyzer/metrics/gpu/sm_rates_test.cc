// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/sm_rates.h"

#include <gtest/gtest.h>

#include <string>

namespace traceinject {
namespace {

Device Gpu(const std::string& name, int cc_major, int cc_minor, int sms, int highest_mhz) {
  Device device;
  device.name = name;
  device.cc_major = cc_major;
  device.cc_minor = cc_minor;
  device.sm_count = sms;
  device.sm_clock_khz = highest_mhz * 1000;
  return device;
}

// Clocks as published beside the rates (boost clocks of the cards' pages).
TEST(SmRates, PublishedRatesRestOnTheBoostClock) {
  EXPECT_NEAR(*RatedSmClockMhz(Gpu("NVIDIA H200", 9, 0, 132, 1980), PeakDtype::kBf16), 1830, 5);
  EXPECT_NEAR(*RatedSmClockMhz(Gpu("NVIDIA H200", 9, 0, 132, 1980), PeakDtype::kFp8), 1830, 5);
  EXPECT_NEAR(*RatedSmClockMhz(Gpu("NVIDIA A100-SXM4-80GB", 8, 0, 108, 1410), PeakDtype::kBf16),
              1410, 5);
  EXPECT_NEAR(*RatedSmClockMhz(Gpu("NVIDIA GeForce RTX 4090", 8, 9, 128, 3105), PeakDtype::kBf16),
              2520, 10);
}

TEST(SmRates, ALimitedCardHasNone) {
  EXPECT_FALSE(RatedSmClockMhz(Gpu("NVIDIA H20", 9, 0, 78, 1980), PeakDtype::kBf16).has_value());
}

TEST(SmRates, UnknownWhereAPartIs) {
  EXPECT_FALSE(RatedSmClockMhz(Gpu("Nobody's GPU", 9, 0, 132, 1980), PeakDtype::kBf16).has_value());
  EXPECT_FALSE(RatedSmClockMhz(Gpu("NVIDIA H200", 9, 1, 132, 1980), PeakDtype::kBf16).has_value());
  Device device = Gpu("NVIDIA H200", 9, 0, 132, 1980);
  device.sm_count.reset();
  EXPECT_FALSE(RatedSmClockMhz(device, PeakDtype::kBf16).has_value());
  EXPECT_FALSE(FlopsPerSmClock(7, 0, false, PeakDtype::kBf16).has_value());
}

}  // namespace
}  // namespace traceinject
