// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/find_trend.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/report/layout/text_layout.h"
#include "analyzer/trend/text_trend.h"

namespace traceinject {
namespace {

constexpr std::int64_t kDay = 86'400'000'000'000, kFirst = 20'000 * kDay;  // 2024-10-04

class FindTrendTest : public testing::Test {
 protected:
  // A day after the one before, of a step of compute and the wait for data.
  proto::TrendRun& Add(std::int64_t wait_ns, const std::string& workers = "4") {
    const auto day = static_cast<std::int64_t>(runs_.size());
    proto::TrendRun& run = runs_.emplace_back();
    run.set_name("day" + std::to_string(day) + ".db");
    run.set_start_unix_ns(kFirst + day * kDay);
    run.set_program("train.py");
    run.set_ranks(8);
    run.set_gpu("NVIDIA H200");
    const std::int64_t jitter_ns = day * 7'919 % 11 * 40'000;
    run.set_step_ns(40'000'000 + wait_ns + jitter_ns);
    run.set_step_low_ns(run.step_ns() - 300'000);
    run.set_step_high_ns(run.step_ns() + 300'000);
    run.set_verdict(wait_ns > 2'000'000 ? "dataloader" : "compute_bound");
    AddPart("compute", 40'000'000 + jitter_ns, run);
    AddPart("idle: data wait", wait_ns, run);
    AddSetting("data loader", "num_workers", workers, run);
    AddSetting("environment", "GIT_COMMIT", "c" + std::to_string(day), run);
    return run;
  }
  void AddMany(int count, std::int64_t wait_ns, const std::string& workers = "4") {
    for (int i = 0; i < count; ++i) Add(wait_ns, workers);
  }
  proto::Trend Find(const TrendOptions& options = {}) const { return FindTrend(runs_, options); }

  std::vector<proto::TrendRun> runs_;

 private:
  static void AddPart(const std::string& name, std::int64_t ns, proto::TrendRun& run) {
    proto::MeanPart& part = *run.add_parts();
    part.set_name(name);
    part.set_ns(ns);
  }
  static void AddSetting(const std::string& kind, const std::string& name, const std::string& value,
                         proto::TrendRun& run) {
    proto::Setting& setting = *run.add_settings();
    setting.set_kind(kind);
    setting.set_name(name);
    setting.set_value(value);
  }
};

TEST_F(FindTrendTest, ARegressionIsToldWithAllThatChanged) {
  AddMany(8, 500'000);
  AddMany(6, 6'500'000, "1");
  const proto::Trend trend = Find();
  ASSERT_EQ(trend.groups_size(), 1);
  const proto::TrendGroup& group = trend.groups(0);
  ASSERT_EQ(group.changes_size(), 1);
  const proto::LevelChange& change = group.changes(0);
  EXPECT_EQ(change.run(), 8);
  EXPECT_NEAR(change.change_share(), 0.147, 0.01);
  EXPECT_LT(change.low_share(), change.change_share());
  EXPECT_EQ(change.runs_before(), 8);
  EXPECT_EQ(change.verdict_before(), "compute_bound");
  EXPECT_EQ(change.verdict_after(), "dataloader");
  ASSERT_EQ(change.parts_size(), 1);
  EXPECT_EQ(change.parts(0).name(), "idle: data wait");
  ASSERT_EQ(change.settings_size(), 1) << "commits stand beside it";
  EXPECT_TRUE(trend.regressed());
  TextPage page(false, kMaxTextWidth);
  WriteTrend(trend, 10, page);
  for (const char* told :
       {"train.py, 8 ranks on NVIDIA H200", "since day8.db of 2024-10-12",
        "idle: data wait +6.000 ms", "the verdict changed from compute_bound to dataloader",
        "num_workers: 4 -> 1", "4 earlier runs are not shown"})
    EXPECT_NE(page.text().find(told), std::string::npos) << told << "\n" << page.text();
  EXPECT_EQ(page.text().find("GIT_COMMIT"), std::string::npos);
}

TEST_F(FindTrendTest, WhatIsAcceptedIsNoRegression) {
  AddMany(8, 500'000);
  AddMany(6, 6'500'000);
  EXPECT_TRUE(Find({.since_unix_ns = kFirst + 8 * kDay}).regressed());
  EXPECT_FALSE(Find({.since_unix_ns = kFirst + 9 * kDay}).regressed());
  EXPECT_FALSE(Find({.tolerance = 0.2}).regressed());
  AddMany(6, 500'000);
  const proto::Trend trend = Find();
  EXPECT_EQ(trend.groups(0).changes_size(), 2);
  EXPECT_FALSE(trend.regressed()) << "it is fast again";
}

TEST_F(FindTrendTest, OneSlowRunIsNotCertain) {
  AddMany(10, 500'000);
  EXPECT_EQ(Find().groups(0).outlook(), "");
  Add(6'500'000);
  const proto::TrendGroup once = Find().groups(0);
  EXPECT_EQ(once.changes_size(), 0);
  EXPECT_NE(once.outlook().find("the newest run, day10.db, takes"), std::string::npos);
  EXPECT_FALSE(Find().regressed());
  Add(6'500'000);
  EXPECT_EQ(Find().groups(0).changes_size(), 1);
  EXPECT_EQ(Find().groups(0).outlook(), "");
}

TEST_F(FindTrendTest, OnlyWhatIsAlikeIsCompared) {
  AddMany(6, 500'000);
  for (int i = 0; i < 6; ++i) Add(20'000'000).set_ranks(16);
  for (int i = 0; i < 3; ++i) Add(9'000'000).set_gpu("NVIDIA H100");
  Add(9'000'000).set_program("other.py");
  const proto::Trend trend = Find();
  ASSERT_EQ(trend.groups_size(), 4);
  EXPECT_EQ(trend.groups(0).program(), "other.py") << "the newest first";
  EXPECT_EQ(trend.groups(3).ranks(), 8);
  for (const proto::TrendGroup& group : trend.groups()) EXPECT_EQ(group.changes_size(), 0);
  EXPECT_FALSE(trend.groups(0).has_scatter_share());
}

TEST_F(FindTrendTest, RunsComeInTheOrderOfTheirTimeWhateverTheirNames) {
  AddMany(4, 500'000);
  std::swap(runs_[0], runs_[3]);
  const proto::Trend trend = Find();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(trend.groups(0).runs(i).name(), "day" + std::to_string(i) + ".db");
}

TEST_F(FindTrendTest, RunsWithoutStepsAreShownAndNotCompared) {
  AddMany(5, 500'000);
  Add(0).clear_step_ns();
  runs_.back().set_reason("no steps were found");
  runs_.back().clear_step_low_ns();
  AddMany(5, 500'000);
  const proto::Trend trend = Find();
  EXPECT_EQ(trend.groups(0).runs_size(), 11);
  EXPECT_EQ(trend.groups(0).changes_size(), 0);
  TextPage page(false);
  WriteTrend(trend, 0, page);
  EXPECT_NE(page.text().find("day5.db: no step time: no steps were found"), std::string::npos);
}

TEST_F(FindTrendTest, SettingsThatChangeWithoutTheStepAreToldToo) {
  AddMany(3, 500'000);
  AddMany(3, 500'000, "5");
  const proto::Trend trend = Find();
  ASSERT_EQ(trend.groups(0).settings_size(), 1);
  EXPECT_EQ(trend.groups(0).settings(0).run(), 3);
  EXPECT_EQ(trend.groups(0).settings(0).settings(0).after(), "5");
}

}  // namespace
}  // namespace traceinject
