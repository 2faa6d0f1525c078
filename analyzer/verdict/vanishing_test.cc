// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/vanishing.h"

#include <gtest/gtest.h>

#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

class Trained {
 public:
  explicit Trained(const TrainingPlan& plan) {
    run_.ranks.push_back(std::move(SimulatedTraining(plan).rank()));
    found_ = BuildJudgedReport(run_, {});
  }
  const Report& report() const { return found_.report; }
  Vanishing Without(std::string_view label) const { return FindVanishing(*found_.judged, label); }
  // A step, in nanoseconds.
  double LengthWithout(std::string_view label) const {
    return static_cast<double>(Length(Without(label).times)) /
           static_cast<double>(report().steps(0).steps_size());
  }

 private:
  traceinject::Run run_;
  JudgedReport found_;
};

// The program loads for 45 ms while the GPU computes for 20.
TEST(VanishingTest, WaitsForData) {
  TrainingPlan plan;
  plan.load_ns = 45'000'000;
  plan.items_per_step = 1;
  const Trained trained(plan);
  EXPECT_NEAR(trained.LengthWithout("dataloader"), 45'000'000, 500'000);
  EXPECT_EQ(trained.Without("dataloader").device, trained.report().verdict().device());
  EXPECT_TRUE(IsMerged(trained.Without("dataloader").times));
  EXPECT_LT(trained.LengthWithout("launch_bound"), 1'000'000);
}

TEST(VanishingTest, CommunicationThatNothingOverlaps) {
  TrainingPlan plan;
  plan.communication_ns = 8'000'000;
  EXPECT_NEAR(Trained(plan).LengthWithout("comm_exposed"), 8'000'000, 300'000);
}

TEST(VanishingTest, UploadsThatNothingOverlaps) {
  TrainingPlan plan;
  plan.upload_bytes = 504'000'000;  // 10 ms
  plan.pinned = true;
  EXPECT_NEAR(Trained(plan).LengthWithout("h2d_copy"), 10'000'000, 300'000);
}

// Convolutions in FP32, of which tensor cores would leave a third.
TEST(VanishingTest, TheEndOfKernelsThatCouldBeShorter) {
  TrainingPlan plan;
  plan.layer = {{"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_ffma_x", 900'000}};
  const Trained trained(plan);
  EXPECT_NEAR(trained.LengthWithout("low_precision_unused"), 10 * 600'000, 200'000);
  const Intervals times = trained.Without("low_precision_unused").times;
  ASSERT_FALSE(times.empty());
  EXPECT_NEAR(static_cast<double>(times[0].end - times[0].start), 600'000, 50'000);
}

TEST(VanishingTest, UnknownCausesTakeNothing) {
  const Trained trained({});
  EXPECT_TRUE(trained.Without("compute_bound").times.empty());
  EXPECT_TRUE(trained.Without("").times.empty());
}

}  // namespace
}  // namespace traceinject
