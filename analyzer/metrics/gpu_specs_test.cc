// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu_specs.h"

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
