// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/host_link.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

Telemetry Link(int generation, int width) {
  Telemetry telemetry;
  telemetry.pcie_generation = generation;
  telemetry.pcie_width = width;
  return telemetry;
}

TEST(HostLinkTest, RateOfWhatTheLinkHadUnderLoad) {
  Device device;
  device.name = "NVIDIA H200";
  EXPECT_FALSE(HostLinkOf(device, std::nullopt));
  EXPECT_FALSE(HostLinkOf(device, Link(9, 16)));
  const auto five = HostLinkOf(device, Link(5, 16)), four = HostLinkOf(device, Link(4, 8));
  ASSERT_TRUE(five && four);
  EXPECT_EQ(five->name, "PCIe 5.0 x16");
  EXPECT_NEAR(five->gb_per_s, 63, 0.1);
  EXPECT_EQ(four->name, "PCIe 4.0 x8");
  EXPECT_NEAR(four->gb_per_s, 15.75, 0.01);
  device.name = "NVIDIA GH200 480GB";
  EXPECT_EQ(HostLinkOf(device, Link(5, 16))->name, "NVLink C2C");
}

TEST(HostLinkTest, WhatIsNotKnownIsAssumed) {
  Device device;
  EXPECT_FALSE(LinkToAssume(device, std::nullopt));
  device.cc_major = 9;
  EXPECT_EQ(LinkToAssume(device, std::nullopt)->name, "PCIe 5.0 x16");
  EXPECT_EQ(LinkToAssume(device, HostLink{"PCIe 4.0 x8", 15.75})->name, "PCIe 4.0 x8");
  device.cc_major = 8;
  EXPECT_NEAR(LinkToAssume(device, std::nullopt)->gb_per_s, 31.5, 0.01);
}

}  // namespace
}  // namespace traceinject
