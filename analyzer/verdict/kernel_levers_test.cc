// SPDX-License-Identifier: Apache-2.0
// What the kernels show beside the verdict.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

// Its kernels are those of an older GPU.
TEST(KernelLeversTest, WhatKernelNamesShowIsALeverOfABusyGpu) {
  traceinject::Run run = RunOf(SimulatedTraining({}).rank());
  const proto::Verdict busy = BuildReportWithVerdict(run, {}).verdict();
  EXPECT_EQ(busy.label(), "compute_bound");
  ASSERT_EQ(busy.levers_size(), 1);
  EXPECT_NE(busy.levers(0).setting().find("aligned sizes"), std::string::npos);
  EXPECT_NE(busy.levers(0).change().find("100.0 % of the kernel time"), std::string::npos);
  run.ranks[0].devices[0].cc_major = 8;
  EXPECT_EQ(BuildReportWithVerdict(run, {}).verdict().levers_size(), 0);
}

TEST(KernelLeversTest, KernelsAreNoLeversOfAnotherLabel) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  const Report report = ReportOn(plan);
  EXPECT_EQ(report.verdict().label(), "dataloader");
  EXPECT_EQ(report.devices(0).kernel_findings_size(), 1);
  for (const proto::Lever& lever : report.verdict().levers())
    EXPECT_EQ(lever.change().find("of the kernel time"), std::string::npos);
}

TEST(KernelLeversTest, SmallKernelsAreALeverWhereTheyAreMany) {
  TrainingPlan small, large;
  small.kernel_ns = 5'000;
  small.python_ns = small.call_ns = 1'000;  // the host is ahead all the same
  small.layers = 100;
  for (const TrainingPlan& plan : {small, large}) {
    const Report report = ReportOn(plan);
    const auto& findings = report.run().kernel_findings();
    const auto found =
        std::find_if(findings.begin(), findings.end(),
                     [](const proto::KernelFinding& one) { return one.name() == "small_kernels"; });
    EXPECT_EQ(found != findings.end(), plan.kernel_ns == small.kernel_ns);
    if (found == findings.end()) continue;
    EXPECT_EQ(found->share(), 1);
    EXPECT_NE(found->text().find("800 launches per step"), std::string::npos) << found->text();
    EXPECT_GT(report.steps(0).queue().slack_median_ns(), 10'000);
  }
}

}  // namespace
}  // namespace traceinject
