// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/pinned_uploads.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr std::int64_t kMegabytes = 1 << 20;

// Steps of 10 ms, each of which begins with copies.
class Uploading {
 public:
  void Add(int step, TimeNs length, std::uint8_t src_kind, std::int64_t bytes = 100 * kMegabytes) {
    builder_.AddCopy(step * 10 * kMs, step * 10 * kMs + length,
                     {.bytes = bytes, .kind = 1, .src_kind = src_kind, .dst_kind = 3});
  }
  const Rank& rank() { return builder_.rank(); }
  HiddenUploads hidden() {
    Steps steps;
    for (int step = 0; step < 3; ++step) {
      Step& added = steps.steps.emplace_back();
      added.time = {step * 10 * kMs, (step + 1) * 10 * kMs};
    }
    return HidePinnedUploads(rank(), rank().devices[0], steps);
  }

 private:
  RankBuilder builder_;
};

TEST(PinnedUploadsTest, NothingIsLeftOfWhatFits) {
  Uploading uploading;
  uploading.Add(0, 2 * kMs, 2);
  uploading.Add(1, 5 * kMs, 2);
  const HiddenUploads hidden = uploading.hidden();
  ASSERT_EQ(hidden.lengths.size(), 2u);
  EXPECT_EQ(hidden.lengths[0].length_ns, 0);
  EXPECT_EQ(hidden.lengths[1].length_ns, 0);
  EXPECT_TRUE(UploadsFromPinned(uploading.rank()));
}

TEST(PinnedUploadsTest, TheLinkSetsThePace) {
  Uploading uploading;
  uploading.Add(0, 8 * kMs, 2);  // beside 2 ms of kernels: 6 ms would stick out
  EXPECT_EQ(uploading.hidden().most_ns, (std::vector<TimeNs>{2 * kMs, 10 * kMs, 10 * kMs}));
}

TEST(PinnedUploadsTest, PageableAndSmallOnesAreLeftAlone) {
  Uploading uploading;
  uploading.Add(0, 2 * kMs, 1);
  uploading.Add(1, 10'000, 2, 4096);
  EXPECT_TRUE(uploading.hidden().lengths.empty());
  EXPECT_FALSE(UploadsFromPinned(uploading.rank()));
}

TEST(PinnedUploadsTest, WithoutUploadsNoneIsPinned) {
  Uploading uploading;
  EXPECT_FALSE(UploadsFromPinned(uploading.rank()));
}

}  // namespace
}  // namespace traceinject
