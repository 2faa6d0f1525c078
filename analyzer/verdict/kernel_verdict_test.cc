// SPDX-License-Identifier: Apache-2.0
// Labels of class compute: kernels that the program could have asked for in another way. The truth
// is the same program with the kernels that it would then run.
#include <gtest/gtest.h>

#include <string>

#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

constexpr int kFp32 = 0, kBf16 = 14, kComputeFloat = 68, kFastTf32 = 77;
// H200: 67 TFLOP/s in fp32, 494.5 in TF32, 989 in bf16.
constexpr double kFp32Rate = 50, kTf32Rate = 340, kBf16Rate = 700;  // TFLOP/s that kernels reach

constexpr const char* kSgemm = "ampere_sgemm_128x64_nn";
constexpr const char* kTf32Product = "cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4";
constexpr const char* kUnaligned =
    "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(int)";
constexpr const char* kSoftmaxForward =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(int)";
constexpr const char* kSoftmaxBackward =
    "void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, false, false>(int)";
constexpr const char* kLogSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(int)";
constexpr const char* kMultiply =
    "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>(int)";
constexpr const char* kFlash = "void flash_fwd_kernel<Flash_fwd_kernel_traits<128>>(int)";

GemmShape Shape(std::int64_t m, std::int64_t n, std::int64_t k, int type, std::int64_t batch = 1) {
  GemmShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.batch = batch;
  shape.trans_a = true;
  shape.type_a = shape.type_b = shape.type_c = type;
  shape.compute_type = kComputeFloat;
  return shape;
}

// As long as it takes at that rate.
PlannedKernel Product(const char* name, const GemmShape& shape, double tflops) {
  const double flops = 2.0 * static_cast<double>(shape.m * shape.n * shape.k * shape.batch);
  return {name, static_cast<TimeNs>(flops / (tflops * 1000)), shape};
}

TrainingPlan PlanOf(std::vector<PlannedKernel> layer) {
  TrainingPlan plan;
  plan.steps = 20;
  plan.layer = std::move(layer);
  return plan;
}

Report ReportOnChanged(const TrainingPlan& plan, void (*change)(Rank&) = nullptr) {
  traceinject::Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  if (change != nullptr) change(run.ranks[0]);
  return BuildReportWithVerdict(run, {});
}

std::string TextOf(const proto::Verdict& verdict) {
  std::string text;
  for (const proto::Evidence& line : verdict.evidence()) text += line.text() + "\n";
  return text;
}

std::string LeversOf(const proto::Verdict& verdict) {
  std::string text;
  for (const proto::Lever& lever : verdict.levers())
    text += lever.setting() + ": " + lever.change() + "\n";
  return text;
}

proto::Verdict ExpectPlantedKernels(const std::string& label, const TrainingPlan& planted,
                                    const TrainingPlan& clean) {
  const double now = SimulatedTraining(planted).step_ns();
  const double then = SimulatedTraining(clean).step_ns();
  EXPECT_GE(now - then, 0.1 * now) << "the planted cause is too weak to be a test";
  const proto::Verdict verdict = ReportOnChanged(planted).verdict();
  EXPECT_EQ(verdict.label(), label) << verdict.abstained();
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), now - then, 0.1 * now);
  EXPECT_LE(verdict.saved_low_ns(), verdict.saved_ns());
  EXPECT_GE(verdict.saved_high_ns(), verdict.saved_ns());
  EXPECT_GT(verdict.confidence(), 0.8);
  EXPECT_GE(verdict.evidence_size(), 3);
  EXPECT_LE(verdict.evidence_size(), 5);
  EXPECT_TRUE(verdict.evidence(0).has_start_ns());
  EXPECT_GE(verdict.levers_size(), 1);
  return verdict;
}

TEST(LowPrecisionTest, ProductsOfFp32) {
  const GemmShape shape = Shape(4096, 4096, 1024, kFp32);
  const TrainingPlan planted = PlanOf({Product(kSgemm, shape, kFp32Rate), {kMultiply, 40'000}});
  const TrainingPlan clean = PlanOf({Product(kTf32Product, shape, kTf32Rate), {kMultiply, 40'000}});
  const proto::Verdict verdict = ExpectPlantedKernels("low_precision_unused", planted, clean);
  EXPECT_NE(TextOf(verdict).find("fp32 GEMMs and convolutions without tensor cores: 10.0 per step"),
            std::string::npos)
      << TextOf(verdict);
  EXPECT_NE(TextOf(verdict).find("TF32 is not enabled"), std::string::npos) << TextOf(verdict);
  EXPECT_NE(LeversOf(verdict).find("set_float32_matmul_precision"), std::string::npos);
  EXPECT_EQ(LeversOf(verdict).find("GradScaler"), std::string::npos);
  EXPECT_EQ(ReportOnChanged(clean).verdict().label(), "compute_bound");
}

TEST(LowPrecisionTest, ConvolutionsByName) {
  const TrainingPlan planted = PlanOf(
      {{"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_ffma_x", 900'000}, {kMultiply, 100'000}});
  const proto::Verdict verdict = ReportOnChanged(planted).verdict();
  EXPECT_EQ(verdict.label(), "low_precision_unused");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 10 * 600e3, 200e3);  // a third remains
}

// Where TF32 is on, something else kept it from these.
TEST(LowPrecisionTest, NotWhereTf32IsUsed) {
  const GemmShape shape = Shape(4096, 4096, 1024, kFp32);
  const TrainingPlan plan = PlanOf({Product(kSgemm, shape, kFp32Rate),
                                    Product(kTf32Product, shape, kTf32Rate),
                                    {kMultiply, 40'000}});
  EXPECT_EQ(ReportOnChanged(plan).verdict().label(), "compute_bound");
  EXPECT_EQ(ReportOnChanged(
                PlanOf({Product(kSgemm, shape, kFp32Rate), {"nvjet_sm90_sss_128x128_x", 9'000}}))
                .verdict()
                .label(),
            "compute_bound");
  GemmShape allowed = shape;
  allowed.compute_type = kFastTf32;
  EXPECT_EQ(ReportOnChanged(PlanOf({Product(kSgemm, allowed, kFp32Rate)})).verdict().label(),
            "compute_bound");
}

// It may have been on in another part of the run.
TEST(LowPrecisionTest, WhereTf32WasUsedInAnotherTime) {
  const GemmShape shape = Shape(4096, 4096, 1024, kFp32);
  traceinject::Run run;
  run.ranks = {
      SimulatedTraining(PlanOf({Product(kSgemm, shape, kFp32Rate), {kMultiply, 40'000}})).rank()};
  Rank& rank = run.ranks[0];
  GpuOps& ops = rank.devices[0].ops;
  const auto first = std::find_if(ops.kind.begin(), ops.kind.end(),
                                  [](OpKind kind) { return kind == OpKind::kKernel; });
  KernelShape tf32 = rank.shapes[ops.detail[first - ops.kind.begin()]];
  tf32.name = static_cast<std::uint32_t>(rank.strings.size());
  rank.strings.emplace_back(kTf32Product);
  ops.detail[first - ops.kind.begin()] = static_cast<std::uint32_t>(rank.shapes.size());
  rank.shapes.push_back(tf32);
  ReportOptions later;
  later.limits.from_ns = rank.end / 3;
  EXPECT_EQ(BuildReportWithVerdict(run, later).verdict().label(), "low_precision_unused");
}

// A product that memory limits is not faster in TF32.
TEST(LowPrecisionTest, MemoryLimitsSlimProducts) {
  const GemmShape slim = Shape(8192, 8, 8192, kFp32);
  TrainingPlan plan = PlanOf({{kSgemm, 70'000, slim}, {kMultiply, 20'000}});
  plan.layers = 100;
  EXPECT_EQ(ReportOnChanged(plan).verdict().label(), "compute_bound");
}

// V100: no TF32, but tensor cores for fp16.
TEST(LowPrecisionTest, OlderGpusHaveFp16) {
  const GemmShape shape = Shape(4096, 4096, 1024, kFp32);
  const TrainingPlan plan =
      PlanOf({Product("volta_sgemm_128x64_nn", shape, 13), {kMultiply, 90'000}});
  const proto::Verdict verdict = ReportOnChanged(plan, [](Rank& rank) {
                                   rank.devices[0].name = "Tesla V100-SXM2-16GB";
                                   rank.devices[0].cc_major = 7;
                                   rank.devices[0].sm_count = 80;
                                 }).verdict();
  EXPECT_EQ(verdict.label(), "low_precision_unused");
  EXPECT_NE(TextOf(verdict).find("in fp16 they would take"), std::string::npos) << TextOf(verdict);
  EXPECT_NE(LeversOf(verdict).find("GradScaler"), std::string::npos);
  EXPECT_EQ(LeversOf(verdict).find("set_float32_matmul_precision"), std::string::npos);
}

// A GPU of unknown rates gets no estimate.
TEST(LowPrecisionTest, UnknownGpu) {
  const GemmShape shape = Shape(4096, 4096, 1024, kFp32);
  const TrainingPlan plan = PlanOf({Product(kSgemm, shape, kFp32Rate)});
  EXPECT_EQ(ReportOnChanged(plan, [](Rank& rank) { rank.devices[0].name = "GPU of next year"; })
                .verdict()
                .label(),
            "compute_bound");
}

TEST(InefficientProductsTest, UnalignedRows) {
  const TrainingPlan planted =
      PlanOf({Product(kUnaligned, Shape(50257, 4096, 1024, kBf16), 150), {kMultiply, 400'000}});
  const TrainingPlan clean =
      PlanOf({Product(kNvjet, Shape(50304, 4096, 1024, kBf16), kBf16Rate), {kMultiply, 400'000}});
  const proto::Verdict verdict = ExpectPlantedKernels("inefficient_gemm", planted, clean);
  EXPECT_NE(TextOf(verdict).find("not a multiple of 16 bytes"), std::string::npos)
      << TextOf(verdict);
  EXPECT_NE(TextOf(verdict).find("50257 x 4096 x 1024"), std::string::npos) << TextOf(verdict);
  EXPECT_NE(LeversOf(verdict).find("pad 50257 -> 50304"), std::string::npos) << LeversOf(verdict);
  EXPECT_EQ(ReportOnChanged(clean).verdict().label(), "compute_bound");
}

TEST(InefficientProductsTest, SmallSizes) {
  TrainingPlan plan =
      PlanOf({Product(kNvjet, Shape(512, 256, 4096, kBf16), 40), {kMultiply, 20'000}});
  plan.layers = 100;
  const proto::Verdict verdict = ReportOnChanged(plan).verdict();
  EXPECT_EQ(verdict.label(), "inefficient_gemm");
  EXPECT_NE(TextOf(verdict).find("too small for this GPU"), std::string::npos) << TextOf(verdict);
}

TEST(InefficientProductsTest, KernelsForAnOlderGpu) {
  const char* const older = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
  const GemmShape shape = Shape(4096, 4096, 4096, kBf16);
  const proto::Verdict verdict = ReportOnChanged(PlanOf({Product(older, shape, 350)})).verdict();
  EXPECT_EQ(verdict.label(), "inefficient_gemm");
  EXPECT_NE(TextOf(verdict).find("built for an older GPU"), std::string::npos) << TextOf(verdict);
  // Libraries use those of TF32 on new GPUs too.
  EXPECT_EQ(ReportOnChanged(PlanOf({Product(kTf32Product, Shape(4096, 4096, 4096, kFp32), 170)}))
                .verdict()
                .label(),
            "compute_bound");
}

// Nobody can make a large product of good shape faster.
TEST(InefficientProductsTest, LargeProductsBelowTheIdealAreHealthy) {
  for (const double tflops : {300.0, 500.0, 700.0}) {
    const TrainingPlan plan =
        PlanOf({Product(kNvjet, Shape(4096, 4096, 4096, kBf16), tflops), {kMultiply, 40'000}});
    EXPECT_EQ(ReportOnChanged(plan).verdict().label(), "compute_bound") << tflops;
  }
}

// 48 heads of 1024 queries and keys of 128 numbers.
std::vector<PlannedKernel> AttentionInParts(int type = kBf16, const char* softmax = kSoftmaxForward,
                                            const char* softmax_backward = kSoftmaxBackward,
                                            std::int64_t heads = 48) {
  const char* name = type == kFp32 ? kSgemm : kNvjet;
  const double rate = type == kFp32 ? kFp32Rate : 300;
  const PlannedKernel scores = Product(name, Shape(1024, 1024, 128, type, heads), rate);
  const PlannedKernel result = Product(name, Shape(128, 1024, 1024, type, heads), rate);
  return {scores,
          {kMultiply, 150'000},
          {softmax, 200'000},
          {kMultiply, 100'000},
          result,
          result,
          scores,
          {kMultiply, 100'000},
          {softmax_backward, 250'000},
          {kMultiply, 150'000},
          result,
          result};
}

std::vector<PlannedKernel> WithLinearLayers(std::vector<PlannedKernel> layer) {
  const PlannedKernel linear = Product(kNvjet, Shape(4096, 4096, 4096, kBf16), kBf16Rate);
  layer.insert(layer.begin(), linear);
  layer.push_back(linear);
  layer.push_back(linear);
  return layer;
}

TEST(UnfusedAttentionTest, ProductsWithASoftmaxBetween) {
  const double flops = 4.0 * 48 * 1024 * 1024 * 128;
  const auto fused = static_cast<TimeNs>(flops / 450e3);
  const TrainingPlan planted = PlanOf(WithLinearLayers(AttentionInParts()));
  const TrainingPlan clean = PlanOf(
      WithLinearLayers({{kFlash, fused}, {"void flash_bwd_kernel<128>(int)", 5 * fused / 2}}));
  const proto::Verdict verdict = ExpectPlantedKernels("unfused_attention", planted, clean);
  EXPECT_NE(TextOf(verdict).find(
                "190 such attention calls forward and 190 backward in all steps, 48 heads"),
            std::string::npos)
      << TextOf(verdict);
  EXPECT_NE(TextOf(verdict).find("120.0 per step"), std::string::npos) << TextOf(verdict);
  EXPECT_NE(LeversOf(verdict).find("scaled_dot_product_attention"), std::string::npos);
  EXPECT_EQ(ReportOnChanged(clean).verdict().label(), "compute_bound");
}

// PyTorch's math backend computes attention of a bf16 program in fp32: its products are part of it.
TEST(UnfusedAttentionTest, InFp32InsideOfABf16Program) {
  EXPECT_EQ(ReportOnChanged(PlanOf(WithLinearLayers(AttentionInParts(kFp32)))).verdict().label(),
            "unfused_attention");
}

// Without shapes only what lies between the products is saved.
TEST(UnfusedAttentionTest, OfUnknownSizes) {
  std::vector<PlannedKernel> layer = WithLinearLayers(AttentionInParts());
  for (PlannedKernel& kernel : layer) kernel.product.reset();
  const proto::Verdict verdict = ReportOnChanged(PlanOf(layer)).verdict();
  EXPECT_EQ(verdict.label(), "unfused_attention");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 10 * 950e3, 300e3);
}

TEST(UnfusedAttentionTest, NotTheSoftmaxOfALossOrOfOneProduct) {
  EXPECT_EQ(
      ReportOnChanged(PlanOf(WithLinearLayers(AttentionInParts(kBf16, kLogSoftmax, kLogSoftmax))))
          .verdict()
          .label(),
      "compute_bound");
  EXPECT_EQ(ReportOnChanged(PlanOf(WithLinearLayers(
                                AttentionInParts(kBf16, kSoftmaxForward, kSoftmaxBackward, 1))))
                .verdict()
                .label(),
            "compute_bound");
}

std::vector<PlannedKernel> Chain(std::vector<const char*> operations, TimeNs each_ns) {
  std::vector<PlannedKernel> chain;
  for (const char* operation : operations)
    chain.push_back({"void at::native::vectorized_elementwise_kernel<4, at::native::" +
                         std::string(operation) + "Functor<float>>(int)",
                     each_ns, std::nullopt, 4096});
  return chain;
}

TEST(MemoryBoundTest, ElementwiseKernelsInARow) {
  const TrainingPlan planted =
      PlanOf(WithLinearLayers(Chain({"Mul", "Add", "Tanh", "Pow", "Add", "Mul"}, 150'000)));
  const TrainingPlan clean = PlanOf(WithLinearLayers(Chain({"Fused"}, 300'000)));
  const proto::Verdict verdict = ExpectPlantedKernels("memory_bound", planted, clean);
  EXPECT_NE(TextOf(verdict).find("6.0 kernels on average"), std::string::npos) << TextOf(verdict);
  EXPECT_NE(LeversOf(verdict).find("torch.compile"), std::string::npos);
  EXPECT_EQ(ReportOnChanged(clean).verdict().label(), "compute_bound");
}

// Fused, they would save the host as many launches: but it is these that the GPU waits for, not the
// kernels, which are over in no time.
TEST(MemoryBoundTest, NotWhereLaunchingThemTakesLonger) {
  std::vector<PlannedKernel> layer(2, {kNvjet, 20'000});
  for (int i = 0; i < 15; ++i) {
    for (const PlannedKernel& kernel : Chain({"Mul", "Add"}, 2'000)) layer.push_back(kernel);
  }
  TrainingPlan plan = PlanOf(layer);
  plan.layers = 24;
  const proto::Verdict verdict = ReportOnChanged(plan).verdict();
  EXPECT_EQ(verdict.label(), "launch_bound") << verdict.abstained();
  ASSERT_EQ(verdict.runner_up().label(), "memory_bound");
  // Of each layer 60 us of kernels would be 13.6, and the host counts as much again.
  const double kernels_ns = 24 * (60'000 - 13'600);
  EXPECT_NEAR(static_cast<double>(verdict.runner_up().saved_ns()), 2 * kernels_ns,
              0.1 * kernels_ns);
}

// An idle memory does not hold kernels up.
TEST(MemoryBoundTest, HardwareCountersAreEvidence) {
  const std::vector<PlannedKernel> chain =
      Chain({"Mul", "Add", "Tanh", "Pow", "Add", "Mul"}, 150'000);
  traceinject::Run run;
  run.ranks = {SimulatedTraining(PlanOf(WithLinearLayers(chain))).rank()};
  Device& device = run.ranks[0].devices[0];
  CounterColumn memory{CounterId::kDram, {}};
  for (TimeNs at = device.ops.start.front(); at < device.ops.end.back(); at += 50'000) {
    device.counters.start.push_back(at);
    device.counters.end.push_back(at + 50'000);
    memory.value.push_back(150);
  }
  device.counters.columns.push_back(std::move(memory));
  const proto::Verdict verdict = BuildReportWithVerdict(run, {}).verdict();
  EXPECT_EQ(verdict.label(), "memory_bound");
  EXPECT_NE(TextOf(verdict).find("hardware counters of these kernels: device memory busy 15."),
            std::string::npos)
      << TextOf(verdict);
  ASSERT_GT(verdict.caveats_size(), 0);
  EXPECT_TRUE(verdict.caveats(verdict.caveats_size() - 1).starts_with("hardware counters: "));
}

// Alone, the same again and again (on other data, for all one knows), of other sizes, or between
// products: nothing to fuse.
TEST(MemoryBoundTest, NotWhatCannotBeFused) {
  EXPECT_EQ(ReportOnChanged(PlanOf(Chain({"Add", "Add", "Add", "Add"}, 150'000))).verdict().label(),
            "compute_bound");
  std::vector<PlannedKernel> sizes = Chain({"Mul", "Add", "Tanh"}, 150'000);
  sizes[1].grid_x = 64;
  EXPECT_EQ(ReportOnChanged(PlanOf(WithLinearLayers(sizes))).verdict().label(), "compute_bound");
  std::vector<PlannedKernel> apart;
  for (const PlannedKernel& kernel : Chain({"Mul", "Add", "Tanh"}, 150'000)) {
    apart.push_back(kernel);
    apart.push_back(Product(kNvjet, Shape(4096, 4096, 1024, kBf16), kBf16Rate));
  }
  EXPECT_EQ(ReportOnChanged(PlanOf(apart)).verdict().label(), "compute_bound");
  EXPECT_EQ(
      ReportOnChanged(PlanOf({{"void at::native::multi_tensor_apply_kernel<Mul>(int)", 150'000},
                              {"void at::native::multi_tensor_apply_kernel<Add>(int)", 150'000},
                              {"void at::native::multi_tensor_apply_kernel<Div>(int)", 150'000}}))
          .verdict()
          .label(),
      "compute_bound");
}

// A few per cent of a transformer.
TEST(MemoryBoundTest, NotALittleBesideProducts) {
  std::vector<PlannedKernel> layer = WithLinearLayers(Chain({"Mul", "Add", "Tanh"}, 15'000));
  EXPECT_EQ(ReportOnChanged(PlanOf(layer)).verdict().label(), "compute_bound");
}

constexpr int kIdle = 1, kSetClocks = 2, kPowerCap = 4, kThermal = 32;

// Products sampled at this clock all the time, for these reasons.
proto::Verdict AtClock(int mhz, int reasons) {
  TrainingPlan plan =
      PlanOf({Product(kNvjet, Shape(4096, 4096, 4096, kBf16), 500), {kMultiply, 40'000}});
  plan.layers = 40;
  traceinject::Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  Device& device = run.ranks[0].devices[0];
  for (TimeNs time = 0; time < device.ops.end.back(); time += 1'000'000) {
    device.samples.time.push_back(time);
    device.samples.sm_clock_mhz.push_back(mhz);
    device.samples.throttle_reasons.push_back(reasons);
    device.samples.memory_clock_mhz.push_back(-1);
    device.samples.power_mw.push_back(-1);
    device.samples.temperature_c.push_back(-1);
    device.samples.sm_utilisation_pct.push_back(-1);
    device.samples.memory_utilisation_pct.push_back(-1);
    device.samples.memory_used_bytes.push_back(-1);
  }
  return BuildReportWithVerdict(run, {}).verdict();
}

TEST(ThrottledTest, HeatAlwaysCounts) {
  const proto::Verdict verdict = AtClock(1485, kThermal);
  EXPECT_EQ(verdict.label(), "throttled");
  // Three quarters of the clock: a quarter of the time of the products.
  const double products_ns = 40 * 2.0 * 4096 * 4096 * 4096 / 500e3;
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), products_ns / 4, 0.02 * products_ns);
  EXPECT_NE(TextOf(verdict).find("1485 MHz while they ran, 1980 max; reasons: software thermal"),
            std::string::npos)
      << TextOf(verdict);
  EXPECT_NE(LeversOf(verdict).find("cooling"), std::string::npos);
  EXPECT_EQ(AtClock(1200, kSetClocks).label(), "throttled");
}

TEST(ThrottledTest, ThePowerCapCountsOnlyFarBelowTheHighestClock) {
  EXPECT_EQ(AtClock(1650, kPowerCap).label(), "compute_bound");
  EXPECT_EQ(AtClock(1590, kPowerCap).label(), "compute_bound");
  const proto::Verdict verdict = AtClock(1200, kPowerCap);
  EXPECT_EQ(verdict.label(), "throttled");
  EXPECT_LT(static_cast<double>(verdict.saved_ns()),
            (1 - 1200 / (0.8 * 1980) + 0.02) * static_cast<double>(verdict.step_ns()));
}

TEST(ThrottledTest, NotIdleClocksNorLowOnesWithoutAReason) {
  EXPECT_EQ(AtClock(345, kIdle).label(), "compute_bound");
  EXPECT_EQ(AtClock(1200, 0).label(), "compute_bound");
  EXPECT_EQ(AtClock(1200, -1).label(), "compute_bound");
  EXPECT_EQ(AtClock(-1, kThermal).label(), "compute_bound");
  EXPECT_EQ(AtClock(1980, kThermal).label(), "compute_bound");
}

// A host that is slower than the GPU gets nothing back from faster kernels.
TEST(KernelVerdictTest, NotWhereTheHostIsTheLimit) {
  const GemmShape shape = Shape(512, 512, 1024, kFp32);
  TrainingPlan plan = PlanOf({Product(kSgemm, shape, kFp32Rate), {kMultiply, 4'000}});
  plan.layers = 200;
  plan.python_ns = 30'000;
  EXPECT_EQ(ReportOnChanged(plan).verdict().label(), "launch_bound");
}

TEST(KernelVerdictTest, TheLargerOfTwoCausesIsTheLabel) {
  const GemmShape shape = Shape(4096, 4096, 1024, kFp32);
  TrainingPlan plan = PlanOf({Product(kSgemm, shape, kFp32Rate), {kMultiply, 40'000}});
  plan.load_ns = 3'000'000;
  plan.items_per_step = 1;
  EXPECT_EQ(ReportOnChanged(plan).verdict().label(), "low_precision_unused");
  plan.load_ns = 30'000'000;
  const proto::Verdict waits = ReportOnChanged(plan).verdict();
  EXPECT_EQ(waits.label(), "dataloader");
  EXPECT_EQ(waits.runner_up().label(), "low_precision_unused");
}

}  // namespace
}  // namespace traceinject
