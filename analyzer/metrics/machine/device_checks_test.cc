// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/device_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace traceinject {
namespace {

using Expected = std::map<std::string, std::string>;

Expected Found(const proto::Telemetry& telemetry) {
  Expected found;
  for (const HygieneProof& proof : CheckTelemetry(telemetry)) {
    EXPECT_EQ(std::ranges::count(HygieneChecks(), proof.check, &HygieneCheck::name), 1);
    found[std::string(proof.check)] = proof.text;
  }
  return found;
}

proto::Telemetry Sampled() {
  proto::Telemetry sampled;
  sampled.set_sampled_ns(1000);
  sampled.set_busy_ns(800);
  sampled.set_busy_sm_clock_mhz(1900);
  sampled.set_highest_sm_clock_mhz(1980);
  sampled.set_pcie_generation(5);
  sampled.set_pcie_width(16);
  sampled.set_pcie_generation_most(5);
  sampled.set_pcie_width_most(16);
  sampled.set_pcie_replays(0);
  return sampled;
}

void Throttle(const char* reason, std::int64_t busy_ns, proto::Telemetry& to) {
  proto::Throttle& one = *to.add_throttled();
  one.set_reason(reason);
  one.set_busy_ns(busy_ns);
}

TEST(DeviceChecks, ACardInOrder) {
  proto::Telemetry sampled = Sampled();
  Throttle("power cap", 700, sampled);  // as many busy cards
  Throttle("hardware thermal", 8, sampled);
  EXPECT_EQ(Found(sampled), Expected{});
  EXPECT_EQ(Found(proto::Telemetry()), Expected{});
}

TEST(DeviceChecks, ClocksHeldDown) {
  proto::Telemetry sampled = Sampled();
  sampled.set_busy_sm_clock_mhz(1450);
  Throttle("power cap", 700, sampled);
  Throttle("software thermal", 40, sampled);
  Throttle("hardware thermal", 80, sampled);
  EXPECT_EQ(Found(sampled),
            (Expected{{"throttled_by_heat",
                       "thermal or hardware limits reduced the clock in 10.0 % of the busy time "
                       "(hardware thermal); 1450 MHz while busy, max 1980"},
                      {"throttled_by_power",
                       "the power limit reduced the clock in 87.5 % of the busy time (power cap); "
                       "1450 MHz while busy, max 1980"}}));
}

TEST(DeviceChecks, TheLinkUnderLoad) {
  proto::Telemetry sampled = Sampled();
  sampled.set_pcie_generation(3);
  EXPECT_EQ(
      Found(sampled),
      (Expected{
          {"pcie_link",
           "PCIe generation 3 x16 at best, although card and slot support generation 5 x16"}}));
  sampled.set_busy_ns(50);
  EXPECT_EQ(Found(sampled), Expected{}) << "an idle card lowers it";
  sampled.set_pcie_width(8);
  EXPECT_EQ(Found(sampled),
            (Expected{{"pcie_link", "PCIe x8, although card and slot support x16"}}))
      << "but keeps its lanes";
}

TEST(DeviceChecks, Errors) {
  proto::Telemetry sampled = Sampled();
  sampled.set_ecc_uncorrected(1);
  sampled.set_ecc_corrected(7);
  sampled.set_pcie_replays(1200);
  sampled.set_nvlink_errors(2);
  EXPECT_EQ(Found(sampled),
            (Expected{{"ecc_uncorrected", "1 uncorrected memory error while it was recorded"},
                      {"ecc_corrected", "7 corrected memory errors while it was recorded"},
                      {"pcie_replays", "1,200 PCIe replays while it was recorded"},
                      {"nvlink_errors", "2 NVLink errors while it was recorded"}}));
}

}  // namespace
}  // namespace traceinject
