// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/copy_findings.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

constexpr std::uint8_t kUpload = 1, kDownload = 2, kPageable = 1, kPinned = 2, kOnDevice = 3;

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

TEST(CopyFindingsTest, PageableCopiesAndSlowPinnedOnesAreTold) {
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

TEST(CopyFindingsTest, AnUnknownLinkIsSaidAndNothingIsSlowOnIt) {
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
