// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/compute_loss.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace traceinject {
namespace {

Waterfall With(WaterfallBar loss) {
  Waterfall waterfall;
  waterfall.wall_ns = 100'000'000;
  waterfall.bars = {{WaterfallPart::kIdle, IdleCause::kSync, 45'000'000, {}, 450},
                    std::move(loss),
                    {WaterfallPart::kAchieved, std::nullopt, 35'000'000, {}, 350}};
  return waterfall;
}

std::vector<std::string> SettingsFor(WaterfallPart part) {
  std::vector<std::string> settings;
  for (const LeverRow& row : LeversOfLoss(With({part, std::nullopt, 20'000'000, {}, 200}), Rank()))
    settings.emplace_back(row.setting);
  return settings;
}

TEST(ComputeLossTest, NamesTheLargestLossOfComputingAndWhatIsMostOfIt) {
  const Waterfall waterfall = With({WaterfallPart::kMemoryBound,
                                    std::nullopt,
                                    20'000'000,
                                    {{"norm", 12'000'000}, {"elementwise", 8'000'000}},
                                    200});
  EXPECT_EQ(LossSentence(waterfall, 10),
            "35.0 % of the published peak is achieved; most is lost to memory-bound kernels: "
            "20.0 % of the step, 2.000 ms");
  EXPECT_EQ(LossItems(waterfall, 10), " (norm 1.200 ms; elementwise 800.0 us)");
}

TEST(ComputeLossTest, NamesOfKernelsAreShort) {
  const Waterfall waterfall = With({WaterfallPart::kUnknownWork,
                                    std::nullopt,
                                    20'000'000,
                                    {{"void cutlass::Kernel<float, 3>(int*)", 20'000'000}},
                                    200});
  EXPECT_EQ(LossItems(waterfall, 10), " (void cutlass::Kernel 2.000 ms)");
}

TEST(ComputeLossTest, NothingWhereNothingIsKnown) {
  EXPECT_EQ(LossSentence(Waterfall(), 10), "");
  EXPECT_EQ(LossItems(Waterfall(), 10), "");
  EXPECT_TRUE(LeversOfLoss(Waterfall(), Rank()).empty());
}

TEST(ComputeLossTest, EachPartHasLevers) {
  EXPECT_EQ(SettingsFor(WaterfallPart::kMemoryBound).front(), "torch.compile(model)");
  EXPECT_EQ(SettingsFor(WaterfallPart::kProducts).front(), "newer PyTorch, CUDA and cuBLAS");
  EXPECT_FALSE(SettingsFor(WaterfallPart::kClock).empty());
  EXPECT_EQ(SettingsFor(WaterfallPart::kAttention).front(), "torch.nn.attention.sdpa_kernel");
  EXPECT_EQ(SettingsFor(WaterfallPart::kCeiling).front(), "fp8 for the large GEMMs");
  EXPECT_EQ(SettingsFor(WaterfallPart::kUnknownWork).front(), "analyze kernels");
}

}  // namespace
}  // namespace traceinject
