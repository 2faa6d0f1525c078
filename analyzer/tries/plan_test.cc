// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/plan.h"

#include <gtest/gtest.h>

#include "injector/options/try_list.h"
#include "schemas/try_levers.h"

namespace traceinject {
namespace {

proto::Report ReportWith(std::initializer_list<const char*> tries) {
  proto::Report report;
  proto::Verdict& verdict = *report.mutable_verdict();
  verdict.set_label("dataloader");
  verdict.set_saved_ns(36'700'000);
  verdict.set_saved_low_ns(34'850'000);
  verdict.set_saved_high_ns(38'370'000);
  for (const char* tried : tries) {
    proto::Lever& lever = *verdict.add_levers();
    lever.set_setting("setting");
    lever.set_try_(tried);
  }
  return report;
}

std::vector<std::string> Tried(const TryPlan& plan) {
  std::vector<std::string> names;
  for (const proto::TriedFix& fix : plan.fixes) names.push_back(fix.tried());
  return names;
}

TEST(PlanTest, LeversOfTheVerdictThenTheFirstTwoTogether) {
  const auto plan =
      PlanTries(ReportWith({"num_workers=6", "", "pin_memory=1", "pin_memory=1"}), {});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(Tried(plan.value()), (std::vector<std::string>{"num_workers=6", "pin_memory=1",
                                                           "num_workers=6,pin_memory=1"}));
  const proto::TriedFix& first = plan.value().fixes[0];
  EXPECT_EQ(first.predicted_ns(), 36'700'000) << "it takes all of the cause away";
  EXPECT_EQ(first.predicted_high_ns(), 38'370'000);
  EXPECT_EQ(first.permanent(), "DataLoader(..., num_workers=6)");
  EXPECT_FALSE(plan.value().fixes[1].has_predicted_ns());
  EXPECT_EQ(plan.value().fixes[1].most_ns(), 36'700'000) << "it takes a part of it";
}

TEST(PlanTest, WhatChangesNumbersIsAskedForFirst) {
  const auto report = ReportWith({"autocast=bf16", "non_blocking=1", "matmul_precision=high"});
  const auto plan = PlanTries(report, {});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(Tried(plan.value()), std::vector<std::string>{"matmul_precision=high"});
  EXPECT_EQ(plan.value().notes.size(), 2u);
  const auto allowed = PlanTries(report, {.allow_numerics = true});
  ASSERT_TRUE(allowed.ok());
  EXPECT_EQ(allowed.value().fixes[0].tried(), "autocast=bf16");
  EXPECT_EQ(allowed.value().notes.size(), 1u)
      << "what may mean something else is named, or not tried";
}

TEST(PlanTest, AListIsTriedAsNamed) {
  const auto plan =
      PlanTries(ReportWith({}), {.fixes = "num_workers=2,pin_memory=1+non_blocking=1,sdpa=flash"});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(
      Tried(plan.value()),
      (std::vector<std::string>{"num_workers=2", "pin_memory=1,non_blocking=1", "sdpa=flash"}));
  EXPECT_TRUE(plan.value().fixes[0].has_predicted_ns()) << "of the verdict's label";
  EXPECT_FALSE(plan.value().fixes[2].has_predicted_ns());
  EXPECT_EQ(plan.value().fixes[1].effect(), "the program may do something else");
}

TEST(PlanTest, ALeverMayBeInSeveralFixes) {
  const auto plan = PlanTries(
      ReportWith({}), {.fixes = "num_workers=2,num_workers=4+pin_memory=1,alloc_conf=a:1,b:2+c"});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(Tried(plan.value()),
            (std::vector<std::string>{"num_workers=2", "num_workers=4,pin_memory=1",
                                      "alloc_conf=a:1,b:2+c"}));
}

TEST(PlanTest, WhatIsNoListIsRefused) {
  for (const char* fixes : {"", "faster=1", "num_workers", "pin_memory=1+pin_memory=0"})
    EXPECT_FALSE(PlanTries(ReportWith({}), {.fixes = fixes}).ok()) << fixes;
}

TEST(PlanTest, AVariableIsKeptByExportingIt) {
  EXPECT_EQ(PermanentOf("env.NCCL_P2P_DISABLE="), "unset NCCL_P2P_DISABLE");
  EXPECT_EQ(PermanentOf("env.A=1,omp_threads=4"), "export A=1\nexport OMP_NUM_THREADS=4");
}

TEST(PlanTest, EachLeverOfTheTableIsOneAndHasOnePlace) {
  for (const TryLever& lever : kTryLevers) {
    std::vector<TryWish> wishes;
    EXPECT_TRUE(ParseTryList(std::string(lever.name) + "=1", &wishes)) << lever.name;
    EXPECT_FALSE(lever.target.empty());
    EXPECT_FALSE(lever.values.empty());
    EXPECT_EQ(lever.name.find_first_of("=,+. "), std::string_view::npos) << lever.name;
  }
}

}  // namespace
}  // namespace traceinject
