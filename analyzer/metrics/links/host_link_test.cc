// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/host_link.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

constexpr std::uint8_t kUpload = 1, kDownload = 2, kPageable = 1, kPinned = 2, kOnDevice = 3;

Telemetry Link(int generation, int width) {
  Telemetry telemetry;
  telemetry.pcie_generation = generation;
  telemetry.pcie_width = width;
  return telemetry;
}

CopyStats Copies(std::uint8_t kind, std::uint8_t host, double gb_per_s, std::int64_t count = 10) {
  CopyStats stats;
  stats.kind = kind;
  stats.src_kind = kind == kUpload ? host : kOnDevice;
  stats.dst_kind = kind == kUpload ? kOnDevice : host;
  stats.count = count;
  stats.bytes = 100'000'000;
  stats.total_ns = static_cast<TimeNs>(100'000'000 / gb_per_s);
  return stats;
}

std::string Names(const std::vector<LinkFinding>& findings) {
  std::string text;
  for (const LinkFinding& finding : findings) text += finding.name + ";";
  return text;
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

TEST(HostLinkTest, PageableCopiesAndSlowPinnedOnesAreTold) {
  const HostLink link{"PCIe 5.0 x16", 63};
  const auto names = [&](const CopyStats& stats, TimeNs busy_ns) {
    return Names(FindInCopies({stats}, link, busy_ns));
  };
  constexpr TimeNs kBusy = 100'000'000;
  EXPECT_EQ(names(Copies(kUpload, kPageable, 6), kBusy), "pageable_uploads;");
  EXPECT_EQ(names(Copies(kDownload, kPageable, 6), kBusy), "pageable_downloads;");
  EXPECT_EQ(names(Copies(kUpload, kPinned, 12), kBusy), "slow_uploads;");
  EXPECT_EQ(names(Copies(kDownload, kPinned, 12), kBusy), "slow_downloads;");
  EXPECT_EQ(names(Copies(kUpload, kPinned, 50), kBusy), "") << "as fast as they get";
  EXPECT_EQ(names(Copies(kUpload, kPageable, 6), 100 * kBusy), "") << "hardly any of the time";
  EXPECT_EQ(names(Copies(kUpload, kPageable, 6, 10'000), kBusy), "") << "small ones";
  CopyStats memset = Copies(kUpload, kPageable, 6);
  memset.is_memset = true;
  EXPECT_EQ(names(memset, kBusy), "");
}

TEST(HostLinkTest, AnUnknownLinkIsSaidAndNothingIsSlowOnIt) {
  const auto found = FindInCopies({Copies(kUpload, kPageable, 6), Copies(kUpload, kPinned, 1)},
                                  std::nullopt, 100'000'000);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("6.0 GB/s; the link's rate was not recorded"), std::string::npos)
      << found[0].text;
  EXPECT_EQ(RateAgainst(6.3, HostLink{"PCIe 5.0 x16", 63}),
            "6.3 GB/s, 10.0 % of PCIe 5.0 x16 (63 GB/s)");
}

}  // namespace
}  // namespace traceinject
