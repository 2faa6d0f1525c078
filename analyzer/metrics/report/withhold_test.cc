// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/withhold.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(Withhold, LinksTakeTheWorkOfKernelsWithThemAndLeaveWhatNamesTell) {
  proto::Report report;
  report.add_devices()->set_source(0);
  for (const auto add : {0, 1}) {
    auto* kernels = add == 0 ? report.mutable_run()->mutable_top_kernels()
                             : report.mutable_devices(0)->mutable_top_kernels();
    proto::Kernel& kernel = *kernels->Add();
    kernel.set_name("nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT");
    kernel.set_kernel_class("gemm");
    kernel.set_dtype("fp16");
    kernel.mutable_work()->set_flops(1e12);
    kernel.mutable_shape()->set_waves(2);
  }
  proto::KernelFinding& finding = *report.mutable_devices(0)->add_kernel_findings();
  finding.set_share(0.5);
  finding.set_above_ideal_ns(100);
  TrustJudgement judgement;
  judgement.withheld.push_back({0, Figures::kLinks, "launches are joined to the wrong calls"});
  WithholdFigures(judgement, report);
  for (const proto::Kernel& kernel :
       {report.run().top_kernels(0), report.devices(0).top_kernels(0)}) {
    EXPECT_FALSE(kernel.has_work());
    EXPECT_EQ(kernel.dtype(), "bf16") << "by the name";
    EXPECT_EQ(kernel.shape().waves(), 2);
  }
  ASSERT_EQ(report.devices(0).kernel_findings_size(), 1);
  EXPECT_FALSE(report.devices(0).kernel_findings(0).has_above_ideal_ns());
  EXPECT_EQ(report.devices(0).kernel_findings(0).share(), 0.5);
}

}  // namespace
}  // namespace traceinject
