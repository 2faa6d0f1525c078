// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/blocking_downloads.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/idle/copies.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr double kRate = 50;  // bytes per nanosecond
constexpr std::int64_t kBytes = 100 << 20;

class BlockingDownloadsTest : public testing::Test {
 protected:
  // A copy of 20 ms in a call that returns at `returned`.
  void Copy(TimeNs start, TimeNs returned, std::uint8_t to, std::int64_t bytes = kBytes,
            std::uint8_t kind = kDeviceToHost) {
    const std::uint32_t call = builder_.AddApi(start - 1, returned, "cudaMemcpyAsync");
    builder_.AddCopy(start, start + 20 * kMs,
                     {.bytes = bytes, .kind = kind, .src_kind = 3, .dst_kind = to}, call);
  }
  BlockingDownloads Find(const HostTimeline& timeline = {}) {
    Steps steps;
    steps.start_ns = 100 * kMs;
    steps.steps = {{.time = {100 * kMs, 200 * kMs}}, {.time = {200 * kMs, 300 * kMs}}};
    const Rank& rank = builder_.rank();
    return FindBlockingDownloads(rank, rank.devices[0], timeline, steps, kRate);
  }

  RankBuilder builder_;
};

TEST_F(BlockingDownloadsTest, TakeAsLongAsIntoPinnedMemory) {
  Copy(10 * kMs, 31 * kMs, kPageable);  // before the steps
  Copy(110 * kMs, 131 * kMs, kPageable);
  Copy(150 * kMs, 171 * kMs, kPageable);
  Copy(250 * kMs, 271 * kMs, kPageable);
  const TimeNs pinned = kBytes / 50;
  const BlockingDownloads found = Find();
  ASSERT_EQ(found.lengths.size(), 4U);
  EXPECT_EQ(found.lengths[1].row, 1U);
  EXPECT_NEAR(static_cast<double>(found.lengths[1].length_ns), static_cast<double>(pinned), 1);
  ASSERT_EQ(found.saved_ns.size(), 2U);
  EXPECT_NEAR(static_cast<double>(found.saved_ns[0]), static_cast<double>(2 * (20 * kMs - pinned)),
              2);
  EXPECT_NEAR(static_cast<double>(found.saved_ns[1]), static_cast<double>(20 * kMs - pinned), 1);
}

TEST_F(BlockingDownloadsTest, OnlyThoseThatTheHostWaitsFor) {
  Copy(110 * kMs, 111 * kMs, kPageable);     // returned before the data was there
  Copy(140 * kMs, 161 * kMs, kPinned);       // fast already
  Copy(170 * kMs, 191 * kMs, kPageable, 8);  // a number
  Copy(210 * kMs, 231 * kMs, kPageable, kBytes, kHostToDevice);
  EXPECT_TRUE(Find().lengths.empty());
}

TEST_F(BlockingDownloadsTest, NotThoseOfACheckpoint) {
  Copy(110 * kMs, 131 * kMs, kPageable);
  Copy(210 * kMs, 231 * kMs, kPageable);
  HostTimeline timeline;
  timeline.segments = {{{100 * kMs, 140 * kMs}, IdleCause::kCheckpoint}};
  const BlockingDownloads found = Find(timeline);
  ASSERT_EQ(found.lengths.size(), 1U);
  EXPECT_EQ(found.lengths[0].row, 1U);
}

}  // namespace
}  // namespace traceinject
