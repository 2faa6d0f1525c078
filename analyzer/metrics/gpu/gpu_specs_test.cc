// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/gpu_specs.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

std::optional<double> Bf16(const char* name) {
  const GpuSpec* spec = FindGpuSpec(name);
  return spec == nullptr ? std::nullopt : PeakTflops(*spec, PeakDtype::kBf16);
}

TEST(GpuSpecsTest, NamesAsTheDriverGivesThem) {
  EXPECT_EQ(Bf16("NVIDIA H200"), 989);
  EXPECT_EQ(Bf16("NVIDIA H100 80GB HBM3"), 989);
  EXPECT_EQ(Bf16("NVIDIA H100 PCIe"), 756);
  EXPECT_EQ(Bf16("NVIDIA H100 NVL"), 835);
  EXPECT_EQ(Bf16("NVIDIA A100-SXM4-80GB"), 312);
  EXPECT_EQ(Bf16("A100-SXM4-40GB"), 312);
  EXPECT_EQ(Bf16("NVIDIA A100 80GB PCIe"), 312);
  EXPECT_EQ(Bf16("NVIDIA GeForce RTX 4090"), 165.2);
  EXPECT_EQ(Bf16("NVIDIA H20"), 148);
  EXPECT_EQ(Bf16("NVIDIA GH200 480GB"), 989);
  EXPECT_EQ(PeakTflops(*FindGpuSpec("Tesla V100-SXM2-16GB"), PeakDtype::kFp16), 125);
  EXPECT_EQ(FindGpuSpec("NVIDIA A100-SXM4-80GB")->memory_gb_per_s, 2039);
  EXPECT_EQ(FindGpuSpec("NVIDIA A100-SXM4-40GB")->memory_gb_per_s, 1555);
}

TEST(GpuSpecsTest, MissingRatesAreUnknownNotZero) {
  EXPECT_FALSE(Bf16("Tesla V100-SXM2-16GB"));
  EXPECT_FALSE(Bf16("NVIDIA A10G"));
  EXPECT_FALSE(PeakTflops(*FindGpuSpec("NVIDIA A100-SXM4-80GB"), PeakDtype::kFp8));
}

TEST(GpuSpecsTest, WhatGoodKernelsReachIsMeasuredOrThatOfItsLike) {
  const GpuSpec& a100 = *FindGpuSpec("NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(ReachedShare(a100, PeakDtype::kBf16), 0.869);
  EXPECT_EQ(ReachedShare(a100, PeakDtype::kFp16), 0.869);
  EXPECT_EQ(ReachedShare(a100, PeakDtype::kTf32), 0.80);
  const GpuSpec& h200 = *FindGpuSpec("NVIDIA H200");
  EXPECT_EQ(ReachedShare(h200, PeakDtype::kBf16), 0.80);
  EXPECT_EQ(ReachedShare(h200, PeakDtype::kFp8), 0.734);
  EXPECT_EQ(ReachedShare(*FindGpuSpec("NVIDIA L4"), PeakDtype::kFp8), 0.72);
  EXPECT_EQ(ReachedShare(*FindGpuSpec("NVIDIA B200"), PeakDtype::kBf16), 0.776);
}

TEST(GpuSpecsTest, LimitsOfAnSm) {
  EXPECT_EQ(FindSmLimits(9, 0)->shared_bytes, 228 * 1024);
  EXPECT_EQ(FindSmLimits(8, 6)->threads, 1536);
  EXPECT_EQ(FindSmLimits(3, 5), nullptr);
}

TEST(GpuSpecsTest, NearNamesAreNotTaken) {
  for (const char* name :
       {"NVIDIA H100", "NVIDIA H200 NVL 2", "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 3090 Ti", "NVIDIA L40",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "NVIDIA GeForce GTX 1080", ""}) {
    EXPECT_EQ(FindGpuSpec(name), nullptr) << name;
  }
}

TEST(GpuSpecsTest, DtypeNamesGoBothWays) {
  for (const PeakDtype dtype :
       {PeakDtype::kBf16, PeakDtype::kFp16, PeakDtype::kTf32, PeakDtype::kFp8, PeakDtype::kFp32}) {
    EXPECT_EQ(PeakDtypeFromName(PeakDtypeName(dtype)), dtype);
  }
  EXPECT_FALSE(PeakDtypeFromName("int4"));
}

}  // namespace
}  // namespace traceinject
