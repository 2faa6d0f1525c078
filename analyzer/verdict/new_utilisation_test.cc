// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/new_utilisation.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

// A step of 100 ms that would take 50 ms, on two GPUs of 100 TFLOPS.
Report HalvedStep() {
  Report report;
  proto::Verdict& verdict = *report.mutable_verdict();
  verdict.set_steps(10);
  verdict.set_step_ns(100'000'000);
  verdict.set_new_step_ns(50'000'000);
  proto::Mfu& mfu = *report.mutable_mfu();
  mfu.set_flops_per_step(4e12);
  mfu.set_devices(2);
  mfu.set_peak_tflops_per_device(100);
  mfu.set_mfu_percent(20);
  proto::MatrixProducts& products = *report.mutable_run()->mutable_matrix_products();
  products.set_peak_share(0.3);
  products.set_step_ns(100'000'000);
  return report;
}

TEST(NewUtilizationTest, TheSameWorkInLessTime) {
  Report report = HalvedStep();
  AddNewUtilization(report);
  EXPECT_DOUBLE_EQ(report.verdict().new_mfu_percent(), 40);
  EXPECT_DOUBLE_EQ(report.verdict().new_peak_share(), 0.6);
}

TEST(NewUtilizationTest, NothingIsSaidAboveThePeak) {
  Report report = HalvedStep();
  report.mutable_verdict()->set_new_step_ns(10'000'000);
  AddNewUtilization(report);
  EXPECT_FALSE(report.verdict().has_new_mfu_percent());
  EXPECT_FALSE(report.verdict().has_new_peak_share());
}

TEST(NewUtilizationTest, NothingIsSaidWhereAFigureIsMissing) {
  Report report = HalvedStep();
  report.mutable_verdict()->clear_new_step_ns();
  AddNewUtilization(report);
  EXPECT_FALSE(report.verdict().has_new_mfu_percent());
  report = HalvedStep();
  report.mutable_mfu()->clear_mfu_percent();
  report.mutable_run()->mutable_matrix_products()->clear_peak_share();
  AddNewUtilization(report);
  EXPECT_FALSE(report.verdict().has_new_mfu_percent());
  EXPECT_FALSE(report.verdict().has_new_peak_share());
}

}  // namespace
}  // namespace traceinject
