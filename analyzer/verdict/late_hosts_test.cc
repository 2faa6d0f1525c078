// SPDX-License-Identifier: Apache-2.0
// Savings on hosts of 0.5 to 3 times the pace: where the host is late, what is saved is its work.
// The truth is the same program on the same host without the cause.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

constexpr double kPaces[] = {0.5, 1, 1.3, 1.6, 2, 3};
constexpr double kTolerance = 0.1;  // of the step
constexpr double kWithin = 0.9;     // of the cells

struct PlantedCause {
  std::string what, label;
  TrainingPlan planted, clean;
};

// 1,000 launches and 20 ms of kernels a step: from a pace of 1.4 on the host is late.
TrainingPlan ManyLaunches() {
  TrainingPlan plan;
  plan.steps = 18;
  plan.layers = 40;
  plan.kernels = 25;
  plan.kernel_ns = 20'000;
  return plan;
}

using Change = void (*)(TrainingPlan&);

// A cause that is planted in a program which has changes of its own.
PlantedCause Planted(
    const char* what, const char* label, Change plant, Change own = [](TrainingPlan&) {}) {
  PlantedCause cause{what, label, ManyLaunches(), ManyLaunches()};
  for (TrainingPlan* plan : {&cause.planted, &cause.clean}) own(*plan);
  plant(cause.planted);
  return cause;
}

constexpr const char* kProduct = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT";
constexpr const char* kCopy =
    "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda(int)>(int)";
constexpr const char* kScale =
    "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>(int)";
constexpr const char* kMask =
    "void at::native::elementwise_kernel<128, 4, at::native::masked_fill_kernel(int)>(int)";
constexpr const char* kSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(int)";
constexpr const char* kFlashForward = "void flash_fwd_kernel<Flash_fwd_kernel_traits<128>>(int)";

GemmShape Heads(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.batch = 128;
  shape.trans_a = true;
  shape.type_a = shape.type_b = shape.type_c = 14;  // bf16
  shape.compute_type = 68;
  return shape;
}

// Of 48 layers, each 20 launches beside its attention.
std::vector<PlannedKernel> Attention(bool fused) {
  std::vector<PlannedKernel> layer(20, {"gemm_of_the_layer", 9'000});
  if (fused) {
    layer.insert(layer.begin() + 4, {kFlashForward, 60'000});
    return layer;
  }
  const std::vector<PlannedKernel> unfused = {{kCopy, 20'000},
                                              {kCopy, 20'000},
                                              {kProduct, 60'000, Heads(1024, 1024, 64)},
                                              {kScale, 90'000},
                                              {kMask, 90'000},
                                              {kSoftmax, 100'000},
                                              {kCopy, 20'000},
                                              {kProduct, 60'000, Heads(64, 1024, 1024)},
                                              {kCopy, 20'000}};
  layer.insert(layer.begin() + 4, unfused.begin(), unfused.end());
  return layer;
}

PlantedCause UnfusedAttention() {
  const auto plan = [](bool fused) {
    TrainingPlan made;
    made.steps = 18;
    made.layers = 48;
    made.layer = Attention(fused);
    return made;
  };
  return {"attention", "unfused_attention", plan(false), plan(true)};
}

std::vector<PlantedCause> Causes() {
  return {
      Planted("loader", "dataloader", [](TrainingPlan& plan) { plan.load_ns = 12'000'000; }),
      Planted("slow loader", "dataloader", [](TrainingPlan& plan) { plan.load_ns = 80'000'000; }),
      Planted(
          "loader, loss read", "dataloader", [](TrainingPlan& plan) { plan.load_ns = 10'000'000; },
          [](TrainingPlan& plan) {
            plan.items_per_step = 1;
            plan.fetch_ns = 30'000;
          }),
      Planted("a value per layer", "sync_bound",
              [](TrainingPlan& plan) {
                plan.items_per_step = 40;
                plan.fetch_ns = 60'000;
              }),
      Planted("ten values, slow to fetch", "sync_bound",
              [](TrainingPlan& plan) {
                plan.items_per_step = 10;
                plan.fetch_ns = 200'000;
              }),
      Planted(
          "pageable copies", "h2d_copy", [](TrainingPlan& plan) { plan.pinned = false; },
          [](TrainingPlan& plan) {
            plan.upload_bytes = 60'000'000;
            plan.pinned = true;
          }),
      UnfusedAttention(),
      Planted("freeing", "allocator", [](TrainingPlan& plan) { plan.allocations_per_step = 10; }),
      Planted("checkpoints", "checkpoint",
              [](TrainingPlan& plan) {
                plan.checkpoint_every = 6;
                plan.checkpoint_ns = 60'000'000;
              }),
      Planted("collections", "gc_pause",
              [](TrainingPlan& plan) {
                plan.collect_every = 4;
                plan.collect_ns = 40'000'000;
              }),
  };
}

// The saving of a cause, whatever the verdict is.
double SavedBy(const proto::Verdict& verdict, std::string_view label) {
  for (const proto::Saving& saving : verdict.savings()) {
    if (saving.label() == label) return static_cast<double>(saving.saved_ns());
  }
  return 0;
}

TEST(LateHostsTest, SavingsOfEachCauseAtEachPace) {
  std::size_t cells = 0, within = 0;
  std::printf(
      "| cause | pace | step, ms | true saving, ms | predicted, ms | error, %% of the step |\n"
      "|---|---|---|---|---|---|\n");
  for (PlantedCause& cause : Causes()) {
    for (const double pace : kPaces) {
      cause.planted.pace = cause.clean.pace = pace;
      const double now = SimulatedTraining(cause.planted).step_ns();
      const double saved = now - SimulatedTraining(cause.clean).step_ns();
      const double predicted = SavedBy(VerdictOn(cause.planted), cause.label);
      const double error = (predicted - saved) / now;
      std::printf("| %s | %.2f | %.2f | %.2f | %.2f | %+.1f |\n", cause.what.c_str(), pace,
                  now / 1e6, saved / 1e6, predicted / 1e6, 100 * error);
      ++cells;
      within += std::abs(error) <= kTolerance ? 1 : 0;
      EXPECT_LE(std::abs(error), 2 * kTolerance) << cause.what << " at " << pace;
    }
  }
  std::printf("%zu of %zu within %.0f %% of the step\n", within, cells, 100 * kTolerance);
  EXPECT_GE(static_cast<double>(within), kWithin * static_cast<double>(cells));
}

}  // namespace
}  // namespace traceinject
