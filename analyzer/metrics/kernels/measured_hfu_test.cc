// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/measured_hfu.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr double kRatedMhz = 1800;

// One launch of each kernel after the other, every one long enough to have samples of its own.
class MeasuredRun {
 public:
  MeasuredRun() {
    Device& device = builder_.rank().devices[0];
    device.cc_major = 9;
    CounterSamples& samples = device.counters;
    samples.source = CounterSource::kPmSampling;
    samples.period_ns = kMs;
    samples.columns = {
        {CounterId::kSmActive, {}}, {CounterId::kSmClock, {}}, {CounterId::kTensorActive, {}}};
  }
  // Tensor cores are busy for a share of the cycles. `called`: by a recorded product.
  void Run(const std::string& name, TimeNs ns, double busy, int mhz, bool called = false) {
    const std::uint32_t launch = builder_.AddApi(end_ + 10, end_ + 20, "cudaLaunchKernel");
    if (called) builder_.AddGemm(end_, end_ + 100, GemmShape{});
    builder_.AddKernel(end_, end_ + ns, name, launch);
    CounterSamples& samples = builder_.rank().devices[0].counters;
    for (TimeNs at = end_; at < end_ + ns; at += kMs) {
      samples.start.push_back(at);
      samples.end.push_back(at + kMs);
      samples.columns[0].value.push_back(1000);
      samples.columns[1].value.push_back(mhz);
      samples.columns[2].value.push_back(static_cast<std::int32_t>(1000 * busy));
    }
    end_ += ns;
  }
  void TakeColumn(std::size_t column) {
    auto& columns = builder_.rank().devices[0].counters.columns;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
  }
  std::optional<MeasuredHfu> Measure(std::optional<double> counted = std::nullopt,
                                     std::optional<double> busy_by_rated = std::nullopt) {
    const Rank& rank = builder_.rank();
    const Device& device = rank.devices[0];
    const Intervals times = {{0, end_}};
    const DeviceCounters counters = MeanCounters(device, times, kRatedMhz);
    const auto kernels = AttributeCounters(rank, device, times, kRatedMhz);
    return MeasureHfu(rank, device, LibraryCalls(rank), {{0, device.ops.size()}}, end_,
                      {counters, kernels, counted, busy_by_rated});
  }

 private:
  RankBuilder builder_;
  TimeNs end_ = 0;
};

TEST(MeasuredHfu, ABusyCycleIsOneAtTheClockOfTheMoment) {
  MeasuredRun run;
  run.Run("nvjet_sm90_tst_256x128", 10 * kMs, 0.9, 1500);
  run.Run("elementwise_kernel", 10 * kMs, 0, 1980);
  const auto hfu = run.Measure();
  ASSERT_TRUE(hfu);
  EXPECT_NEAR(hfu->share, 0.5 * 0.9 * 1500 / 1800, 1e-3);
  EXPECT_NEAR(hfu->counter_share, hfu->share, 1e-9);
  EXPECT_EQ(hfu->counted_share, 0);
  EXPECT_FALSE(hfu->shapes_by_counter);
  EXPECT_GE(hfu->error, kBusyCycleError * hfu->share);
  EXPECT_LT(hfu->error, 0.02);
}

TEST(MeasuredHfu, InstructionsOfAWarpTakeLonger) {
  MeasuredRun run;
  run.Run("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", 10 * kMs, 0.6,
          1800);
  run.Run("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", 10 * kMs, 0.6, 1800);
  EXPECT_NEAR(run.Measure()->share, 0.5 * 0.6 * 2 / 3 + 0.5 * 0.6, 1e-3);
}

TEST(MeasuredHfu, ShapesTellWhatIsNeeded) {
  MeasuredRun run;
  run.Run("nvjet_sm90_tst_256x128", 10 * kMs, 0.8, 1800, true);
  run.Run("sm90_xmma_fprop_padded_warpgroup", 10 * kMs, 0.5, 1800, true);
  run.Run("triton_tem_fused", 20 * kMs, 0.4, 1800);
  EXPECT_EQ(run.Measure()->share, run.Measure()->counter_share) << "FLOPs are not known";
  const auto hfu = run.Measure((0.78 + 0.25) / 4);
  ASSERT_TRUE(hfu);
  EXPECT_NEAR(hfu->counted_share, (0.78 + 0.25) / 4, 1e-9);
  EXPECT_NEAR(hfu->share, (0.78 + 0.25 + 2 * 0.4) / 4, 2e-3);
  EXPECT_NEAR(hfu->counter_share, (0.8 + 0.5 + 2 * 0.4) / 4, 1e-3);
  EXPECT_NEAR(*hfu->shapes_by_counter, (0.78 + 0.25) / (0.8 + 0.5), 1e-3);
}

TEST(MeasuredHfu, WithoutItsSamplesTheClockIsTheMean) {
  MeasuredRun run;
  run.Run("nvjet_sm90_tst_256x128", 10 * kMs, 0.9, 1500);
  run.TakeColumn(1);
  EXPECT_FALSE(run.Measure());
  EXPECT_NEAR(run.Measure(std::nullopt, 0.9)->share, 0.81, 1e-3);
  run.TakeColumn(1);
  EXPECT_FALSE(run.Measure(std::nullopt, 0.9)) << "without the tensor cores' counter";
}

}  // namespace
}  // namespace traceinject
