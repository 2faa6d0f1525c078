// SPDX-License-Identifier: Apache-2.0
// Work of kernels in a real recording. The expected figures were worked out from the recording with
// SQL alone: kernel, call, GEMM or attention call joined by correlation id, thread and
// time.
#include <gtest/gtest.h>

#include <string>

#include "analyzer/import/load/load_run.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/metrics/what_if/kernel_savings.h"

namespace traceinject {
namespace {

class RecordedKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto run = LoadRun({std::string(TRACEINJECT_RECORDINGS) + "/transformer_h200.db.zst"}, {});
    ASSERT_TRUE(run.ok()) << run.error();
    ReportOptions options;
    options.top_kernels = 100;
    options.all = true;
    report_ = BuildReport(run.value(), options);
  }

  // Whose name contains this; of several the one with most time.
  const proto::Kernel& Kernel(const std::string& part) const {
    for (const proto::Kernel& kernel : report_.run().top_kernels()) {
      if (kernel.name().find(part) != std::string::npos) return kernel;
    }
    ADD_FAILURE() << "no kernel " << part;
    return proto::Kernel::default_instance();
  }

  Report report_;
};

TEST_F(RecordedKernelsTest, WorkOfMatrixProducts) {
  const proto::Kernel& several_shapes = Kernel("nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT");
  EXPECT_EQ(several_shapes.dtype(), "bf16");
  EXPECT_TRUE(several_shapes.tensor_cores());
  const proto::KernelWork& work = several_shapes.work();
  EXPECT_EQ(work.kernels(), 2058);
  EXPECT_EQ(work.kernel_ns(), 155'728'453);
  EXPECT_NEAR(work.flops(), 1.2122115696e14, 1e4);
  EXPECT_DOUBLE_EQ(work.bytes(), 134'410'665'984.0);
  EXPECT_NEAR(work.tflops_per_s(), 778.413672, 1e-5);
  EXPECT_NEAR(work.peak_share(), 0.787071458, 1e-8);
  EXPECT_NEAR(work.reached_share(), 0.787071458 / 0.8, 1e-8);
  EXPECT_NEAR(work.flops_per_byte(), 901.871560, 1e-5);
  EXPECT_EQ(work.bound(), "compute");
  EXPECT_EQ(work.ideal_ns(), 153'211'776);
  EXPECT_EQ(work.above_ideal_ns(), 3'852'313);
  EXPECT_NEAR(Kernel("192x192_64x3_1x2_h_bz_coopB_NTN").work().peak_share(), 0.811208538, 1e-8);
  EXPECT_NEAR(Kernel("128x256_64x4_4x2_h_bz_coopA_NTN").work().tflops_per_s(), 689.414427, 1e-5);
}

TEST_F(RecordedKernelsTest, WorkOfAttentionIsHalvedByTheMask) {
  const proto::Kernel& forward = Kernel("sdpa_sm90_flash_fprop");
  EXPECT_EQ(forward.dtype(), "bf16") << "as the call tells: the name says f16";
  EXPECT_EQ(forward.work().kernels(), 672);
  // 2 products x 2 x 4 samples x 12 heads x (1024 x 1025 / 2) pairs x 128.
  EXPECT_DOUBLE_EQ(forward.work().flops(), 672 * 4.0 * 4 * 12 * 524'800 * 128);
  EXPECT_NEAR(forward.work().tflops_per_s(), 321.266148, 1e-5);
  const proto::Kernel& backward = Kernel("sdpa_sm90_flash_bprop");
  EXPECT_NEAR(backward.work().tflops_per_s(), 314.830922, 1e-5);
  EXPECT_NEAR(backward.work().peak_share(), 0.318332580, 1e-8);
  EXPECT_FALSE(Kernel("compute_dot_do_o").has_work());
  EXPECT_FALSE(Kernel("FusedAdamMathFunctor").has_work());
}

// 4096 blocks of 4 warps and 39 registers: 1280 a warp, 12 warps a quarter of an SM, 12 blocks an
// SM, 1584 on 132 of them.
TEST_F(RecordedKernelsTest, HowBlocksFit) {
  const proto::LaunchShape& norm = Kernel("vectorized_layer_norm_kernel").shape();
  EXPECT_EQ(norm.blocks_per_sm(), 12);
  EXPECT_EQ(norm.limited_by(), "registers");
  EXPECT_DOUBLE_EQ(norm.occupancy_share(), 0.75);
  EXPECT_DOUBLE_EQ(norm.waves(), 4096.0 / 1584);
  EXPECT_DOUBLE_EQ(norm.tail_share(), 1 - 4096.0 / 1584 / 3);
  EXPECT_DOUBLE_EQ(Kernel("nvjet_sm90_tst_192x192_64x3").shape().waves(), 1);
}

// It asks for its work in a good way: what its kernels could save by another one is little.
TEST(RecordedKernelSavingsTest, LittleInHealthyTraining) {
  for (const std::string name :
       {"transformer_h200.db.zst", "slow_loader_fixed_h200.db.zst", "slow_loader_h200.db.zst",
        "ddp_h200", "straggler_gemm_h200", "transport_shm_h200"}) {
    auto run = LoadRun({std::string(TRACEINJECT_RECORDINGS) + "/" + name}, {});
    ASSERT_TRUE(run.ok()) << run.error();
    for (const Rank& rank : run.value().ranks) {
      for (const Device& device : rank.devices) {
        if (device.ops.size() == 0) continue;
        const Interval window{device.ops.start.front(), device.ops.end.back()};
        const Steps steps = FindSteps(rank, device, window);
        TimeNs whole = 0;
        for (const Step& step : steps.steps) whole += step.length_ns();
        for (const KernelSaving& saving : FindKernelSavings(rank, device, steps, 0)) {
          TimeNs saved = 0;
          for (const TimeNs of_step : saving.saved_ns) saved += of_step;
          const double share = static_cast<double>(saved) / static_cast<double>(whole);
          EXPECT_LT(share, 0.03) << name << " " << saving.label << " " << saving.facts.front();
        }
      }
    }
  }
}

// It uses fused attention, a fused optimizer and products for its own GPU.
TEST_F(RecordedKernelsTest, NothingToImproveByTheNames) {
  EXPECT_EQ(report_.run().kernel_findings_size(), 0);
}

}  // namespace
}  // namespace traceinject
