// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/health.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr JoinRate kAllJoined{.operations = 1000, .joined = 1000, .calls_recorded = true};

Run WithCounters(const std::vector<HealthCounter>& counters) {
  RankBuilder builder;
  builder.rank().health = counters;
  builder.rank().rank = 3;
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  return run;
}

TEST(HealthTest, CleanRecordingIsGood) {
  const RecordingHealth health = JudgeHealth(WithCounters({{"kernel", "seen", 100, ""},
                                                           {"kernel", "stored", 100, ""},
                                                           {"kernel", "dropped", 0, ""}}),
                                             kAllJoined);
  EXPECT_EQ(health.grade, HealthGrade::kGood);
  EXPECT_TRUE(health.reasons.empty());
  EXPECT_EQ(health.records_seen, 100);
  EXPECT_EQ(health.lost_share, 0);
}

TEST(HealthTest, AFewLostRecordsMakeItLossy) {
  const RecordingHealth health = JudgeHealth(WithCounters({{"kernel", "seen", 10'000, ""},
                                                           {"kernel", "dropped", 5, ""},
                                                           {"nvtx", "seen", 10'000, ""}}),
                                             kAllJoined);
  EXPECT_EQ(health.grade, HealthGrade::kLossy);
  EXPECT_DOUBLE_EQ(*health.lost_share, 5.0 / 20'000);
  ASSERT_EQ(health.reasons.size(), 1u);
  EXPECT_EQ(
      health.reasons[0],
      "rank 3: kernel.dropped = 5: kernel records without times, or that could not be written");
  EXPECT_EQ(health.lines[0].name, "kernel.dropped");
  EXPECT_EQ(health.lines[0].severity, HealthSeverity::kDataLoss);
}

TEST(HealthTest, OnePercentLostIsBad) {
  // What CUPTI dropped was never seen: 100 of 9,900 + 100.
  const RecordingHealth health = JudgeHealth(
      WithCounters({{"kernel", "seen", 9'900, ""}, {"cupti", "dropped", 100, ""}}), kAllJoined);
  EXPECT_EQ(health.grade, HealthGrade::kBad);
  EXPECT_DOUBLE_EQ(*health.lost_share, 0.01);
  EXPECT_EQ(health.reasons[0], "1.00 % of the records were lost");
}

TEST(HealthTest, ErrorsAreBadAndComeFirst) {
  const RecordingHealth health =
      JudgeHealth(WithCounters({{"buffers", "exhausted", 2, ""},
                                {"start", "failed", 1, "no CUPTI in the process"}}),
                  kAllJoined);
  EXPECT_EQ(health.grade, HealthGrade::kBad);
  ASSERT_EQ(health.reasons.size(), 2u);
  EXPECT_EQ(health.reasons[0],
            "rank 3: start.failed = 1: recording could not start (no CUPTI in the process)");
}

TEST(HealthTest, KilledProcessesAndCaptureGapsAreLossy) {
  traceinject::Run run = WithCounters({{"kernel", "seen", 10, ""}});
  run.ranks[0].closed = false;
  run.ranks[0].gaps.push_back({0, kOpen, "max_size"});
  const RecordingHealth health = JudgeHealth(run, kAllJoined);
  EXPECT_EQ(health.grade, HealthGrade::kLossy);
  EXPECT_EQ(health.reasons.size(), 2u);
}

TEST(HealthTest, JoinRateDecidesToo) {
  const traceinject::Run run = WithCounters({{"kernel", "seen", 10, ""}});
  EXPECT_EQ(JudgeHealth(run, {.operations = 1000, .joined = 999, .calls_recorded = true}).grade,
            HealthGrade::kGood);
  EXPECT_EQ(JudgeHealth(run, {.operations = 1000, .joined = 995, .calls_recorded = true}).grade,
            HealthGrade::kLossy);
  EXPECT_EQ(JudgeHealth(run, {.operations = 1000, .joined = 900, .calls_recorded = true}).grade,
            HealthGrade::kBad);
  // Calls were switched off: nothing to join to, nothing wrong.
  EXPECT_EQ(JudgeHealth(run, {.operations = 1000, .joined = 0, .calls_recorded = false}).grade,
            HealthGrade::kGood);
}

TEST(HealthTest, UnknownCountersAreShownAndNoCountersAreUnknown) {
  const RecordingHealth health = JudgeHealth(WithCounters({{"gemm", "odd", 7, "why"}}), kAllJoined);
  ASSERT_EQ(health.lines.size(), 1u);
  EXPECT_EQ(health.lines[0].severity, HealthSeverity::kNotice);
  EXPECT_EQ(health.lines[0].value, 7);
  EXPECT_EQ(health.lines[0].detail, "why");
  EXPECT_EQ(JudgeHealth(WithCounters({}), kAllJoined).grade, HealthGrade::kUnknown);
  EXPECT_EQ(HealthGradeName(HealthGrade::kLossy), "lossy");
}

TEST(HealthTest, ImportedTracesAreUnknownWithAReason) {
  traceinject::Run run = WithCounters({});
  run.ranks[0].closed = true;
  run.ranks[0].imported_from = "a PyTorch profiler trace";
  const RecordingHealth health = JudgeHealth(run, kAllJoined);
  EXPECT_EQ(health.grade, HealthGrade::kUnknown);
  ASSERT_EQ(health.reasons.size(), 1u);
  EXPECT_NE(health.reasons[0].find("imported from a PyTorch profiler trace"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
