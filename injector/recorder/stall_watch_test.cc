// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/stall_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace traceinject {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kLimit = 60 * kSecond;

class StallWatchTest : public testing::Test {
 protected:
  StallWatchTest() {
    batch_.api_names.push_back({1, 2, 307, "cuLaunchKernel", 1});
    batch_.api_names.push_back({2, 1, 20, "cudaMalloc", 6});
  }

  void Launch(std::uint64_t correlation, std::int64_t at, std::uint32_t name = 1,
              std::int32_t result = 0) {
    batch_.apis.push_back({at, 1000, 1, name, correlation, result});
  }
  void Complete(std::uint64_t correlation, std::int64_t start, std::int64_t end) {
    batch_.kernels.push_back({start, end - start, 1, 1, correlation, 0});
  }

  // A flush at each second up to then; whether one of them asked for all.
  bool FlushUntil(std::int64_t second) {
    bool asked = false;
    while (moment_.now < second * kSecond) {
      moment_.now += kSecond;
      moment_.monotonic += kSecond;
      asked |= watch_.WantsAll(moment_);
      watch_.Judge(moment_);
      Keep();
    }
    return asked;
  }
  // As the writer does: the rows go into the file.
  void Keep() {
    gaps_.insert(gaps_.end(), batch_.gaps.begin(), batch_.gaps.end());
    spans_.insert(spans_.end(), batch_.host_spans.begin(), batch_.host_spans.end());
    batch_ = Batch();
  }

  Batch batch_;
  Dictionary dictionary_{&batch_};
  StallWatch watch_{kLimit, &dictionary_, &batch_};
  StallWatch::Moment moment_{0, kSecond, 0, false, {}};
  std::vector<CaptureGapRow> gaps_;
  std::vector<HostSpanRow> spans_;
};

TEST_F(StallWatchTest, AWaitAfterTheLastCompletionIsAStall) {
  Launch(1, kSecond);
  Complete(1, 2 * kSecond, 3 * kSecond);
  Launch(2, 4 * kSecond);
  moment_.waits = {{77, 5 * kSecond, 5}};
  EXPECT_FALSE(FlushUntil(64));
  EXPECT_TRUE(gaps_.empty());
  EXPECT_TRUE(FlushUntil(66)) << "a minute after the wait began";
  ASSERT_EQ(gaps_.size(), 1U);
  EXPECT_EQ(gaps_[0].reason, "stalled");
  EXPECT_EQ(gaps_[0].start, 4 * kSecond) << "the launch, as the GPU had nothing to do before";
  EXPECT_EQ(gaps_[0].dur, -1);
  ASSERT_EQ(spans_.size(), 1U);
  EXPECT_EQ(spans_[0].start, 5 * kSecond);
  EXPECT_EQ(spans_[0].start + spans_[0].dur, 65 * kSecond);
  EXPECT_EQ(spans_[0].kind, 3);
  EXPECT_EQ(spans_[0].detail, 5);
  EXPECT_EQ(watch_.count(), 1);
  EXPECT_FALSE(FlushUntil(200));
  EXPECT_EQ(gaps_.size(), 1U) << "told once";
  EXPECT_NE(watch_.detail().find("1 launch without"), std::string::npos) << watch_.detail();
}

TEST_F(StallWatchTest, WhatCuptiHoldsIsAskedForWhenTheProgramIsSilent) {
  Complete(1, kSecond, 2 * kSecond);
  moment_.buffers_out = true;
  ++moment_.told;
  EXPECT_TRUE(FlushUntil(63));
  EXPECT_TRUE(gaps_.empty()) << "nothing came";
  Launch(2, 2 * kSecond - 1);
  FlushUntil(64);
  ASSERT_EQ(gaps_.size(), 1U);
  EXPECT_EQ(gaps_[0].start, 2 * kSecond) << "launched before the last completion";
}

TEST_F(StallWatchTest, AProgramThatGoesOnIsLeftAlone) {
  moment_.buffers_out = true;
  Launch(1, kSecond);
  bool asked = false;
  for (int second = 1; second < 300; ++second) {
    ++moment_.told;
    asked |= FlushUntil(second);
  }
  EXPECT_FALSE(asked) << "records would come late if their buffers were full";
  EXPECT_TRUE(gaps_.empty());
}

TEST_F(StallWatchTest, AProgramWithNothingOnTheGpuIsIdle) {
  Launch(1, kSecond);
  Launch(2, kSecond, 2);      // no launch
  Launch(3, kSecond, 1, 98);  // failed
  Complete(1, kSecond, 2 * kSecond);
  EXPECT_FALSE(FlushUntil(300)) << "no buffer is out";
  moment_.buffers_out = true;
  EXPECT_TRUE(FlushUntil(600));
  EXPECT_TRUE(gaps_.empty());
}

TEST_F(StallWatchTest, ALaunchAfterALongPauseHasItsOwnTime) {
  Complete(1, kSecond, 2 * kSecond);
  FlushUntil(500);
  moment_.buffers_out = true;
  Launch(2, 500 * kSecond);
  EXPECT_FALSE(FlushUntil(559));
  EXPECT_TRUE(FlushUntil(561));
  ASSERT_EQ(gaps_.size(), 1U);
  EXPECT_EQ(gaps_[0].start, 500 * kSecond);
}

TEST_F(StallWatchTest, EndsWithTheNextOperation) {
  Launch(1, kSecond);
  moment_.waits = {{77, kSecond, 4}};
  FlushUntil(70);
  ASSERT_EQ(gaps_.size(), 1U);
  EXPECT_TRUE(watch_.stalled());
  moment_.waits.clear();
  Complete(2, 80 * kSecond, 81 * kSecond);
  Complete(3, 81 * kSecond, 82 * kSecond);
  FlushUntil(83);
  ASSERT_EQ(gaps_.size(), 2U);
  EXPECT_EQ(gaps_[1].row, gaps_[0].row) << "replaces it";
  EXPECT_EQ(gaps_[1].start, kSecond);
  EXPECT_EQ(gaps_[1].dur, 79 * kSecond);
  EXPECT_FALSE(watch_.stalled());

  Launch(4, 90 * kSecond);
  moment_.waits = {{77, 90 * kSecond, 4}};
  FlushUntil(160);
  ASSERT_EQ(gaps_.size(), 3U);
  EXPECT_NE(gaps_[2].row, gaps_[0].row);
  EXPECT_EQ(watch_.count(), 2);
}

TEST_F(StallWatchTest, AnOperationThatIsRecordedAfterAllLeavesNoGap) {
  Launch(1, kSecond);
  moment_.waits = {{77, kSecond, 4}};
  FlushUntil(70);
  Complete(1, kSecond + 5, 75 * kSecond);
  FlushUntil(76);
  ASSERT_EQ(gaps_.size(), 2U);
  EXPECT_EQ(gaps_[1].dur, 5) << "it was only long";
}

TEST_F(StallWatchTest, WhatAGraphCapturedIsNotOutstanding) {
  batch_.api_names.push_back({3, 1, 311, "cudaGraphLaunch", 7});
  Launch(1, kSecond);  // captured
  Launch(2, 2 * kSecond, 3);
  Complete(2, 2 * kSecond, 3 * kSecond);
  Complete(2, 3 * kSecond, 4 * kSecond);
  moment_.buffers_out = true;
  EXPECT_TRUE(FlushUntil(200));
  EXPECT_TRUE(gaps_.empty());
  Launch(3, 200 * kSecond, 3);
  FlushUntil(400);
  EXPECT_EQ(gaps_.size(), 1U);
}

TEST_F(StallWatchTest, ALostRecordIsNoStall) {
  Launch(1, kSecond);
  Launch(2, kSecond);
  Complete(2, kSecond, 2 * kSecond);
  moment_.buffers_out = true;
  EXPECT_TRUE(FlushUntil(200));
  EXPECT_TRUE(gaps_.empty());
  // Beside a wait it may well be what is waited for.
  moment_.waits = {{77, 3 * kSecond, 4}};
  FlushUntil(300);
  ASSERT_EQ(gaps_.size(), 1U);
  EXPECT_EQ(gaps_[0].start, 2 * kSecond);
}

TEST_F(StallWatchTest, WhatIsNotRecordedIsForgotten) {
  Launch(1, kSecond);
  moment_.waits = {{77, kSecond, 4}};
  FlushUntil(70);
  watch_.Forget(71 * kSecond);
  Keep();
  ASSERT_EQ(gaps_.size(), 2U);
  EXPECT_EQ(gaps_[1].dur, 70 * kSecond);
  moment_.waits.clear();
  moment_.buffers_out = true;
  EXPECT_TRUE(FlushUntil(300));
  EXPECT_EQ(gaps_.size(), 2U);
}

TEST_F(StallWatchTest, RowsThatWaitForAFileCountOnce) {
  Launch(1, kSecond);
  watch_.Look();
  watch_.Look();
  moment_.waits = {{77, kSecond, 4}};
  FlushUntil(70);
  EXPECT_NE(watch_.detail().find("1 launch without"), std::string::npos) << watch_.detail();
}

TEST_F(StallWatchTest, OffItDoesNothing) {
  StallWatch off(0, &dictionary_, &batch_);
  Launch(1, kSecond);
  moment_.now = moment_.monotonic = 1000 * kSecond;
  moment_.waits = {{77, kSecond, 5}};
  EXPECT_FALSE(off.WantsAll(moment_));
  off.Judge(moment_);
  EXPECT_TRUE(batch_.gaps.empty());
}

TEST(LastOfTest, TheOldestGivesWay) {
  LastOf<int> last;
  for (int i = 0; i < static_cast<int>(LastOf<int>::kMax); ++i) EXPECT_FALSE(last.Add(i));
  EXPECT_EQ(last.Add(-1), 0);
  EXPECT_EQ(last.Add(-2), 1);
  EXPECT_EQ(last.held().size(), LastOf<int>::kMax);
}

TEST_F(StallWatchTest, WhereCuptiDoesNotAnswerAProgramThatStandsStillIsAStall) {
  Launch(1, kSecond);
  Complete(1, 2 * kSecond, 3 * kSecond);
  FlushUntil(10);
  moment_.told = 5;  // a range, say, which is the last that is heard of it
  FlushUntil(11);
  for (int second = 12; second < 71; ++second) {
    moment_.now = second * kSecond;
    moment_.monotonic = moment_.now + kSecond;
    watch_.JudgeUnanswered(moment_);
  }
  EXPECT_TRUE(batch_.gaps.empty());
  moment_.now = 71 * kSecond;
  moment_.monotonic = 72 * kSecond;
  watch_.JudgeUnanswered(moment_);
  watch_.JudgeUnanswered(moment_);
  ASSERT_EQ(batch_.gaps.size(), 1U) << "once";
  EXPECT_EQ(batch_.gaps[0].start, 11 * kSecond) << "since it was heard of";
  EXPECT_EQ(batch_.gaps[0].dur, -1);
  EXPECT_NE(watch_.detail().find("CUPTI does not respond"), std::string::npos) << watch_.detail();
  Keep();
  Complete(2, 80 * kSecond, 81 * kSecond);
  FlushUntil(82);
  ASSERT_EQ(gaps_.size(), 2U);
  EXPECT_EQ(gaps_[1].dur, 69 * kSecond) << "up to the next operation";
}

TEST_F(StallWatchTest, WhereCuptiDoesNotAnswerAProgramThatGoesOnIsNone) {
  for (int second = 1; second < 300; ++second) {
    moment_.now = moment_.monotonic = second * kSecond;
    moment_.told = second / 30;
    watch_.JudgeUnanswered(moment_);
  }
  EXPECT_TRUE(batch_.gaps.empty());
  moment_.waits = {{77, 200 * kSecond, 5}};
  watch_.JudgeUnanswered(moment_);
  ASSERT_EQ(batch_.gaps.size(), 1U) << "but one of its threads waits";
  EXPECT_EQ(batch_.gaps[0].start, 200 * kSecond);
}

}  // namespace
}  // namespace traceinject
