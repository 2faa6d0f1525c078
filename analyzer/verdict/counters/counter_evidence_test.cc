// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/counters/counter_evidence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// Two kernels, of 3 and of 1 ms.
class CounterEvidenceTest : public testing::Test {
 protected:
  CounterEvidenceTest() {
    builder_.AddKernel(0, 3'000'000, "large");
    builder_.AddKernel(3'000'000, 4'000'000, "small");
    figures_.rank = &builder_.rank();
    figures_.device = &builder_.rank().devices[0];
    saving_.lengths = {{0, 0}, {1, 0}};
  }

  void Shows(std::uint32_t op, std::vector<CounterShare> values) {
    const Rank& rank = builder_.rank();
    KernelCounters counters;
    counters.name = rank.shapes[rank.devices[0].ops.detail[op]].name;
    counters.values = std::move(values);
    figures_.kernel_counters.push_back(std::move(counters));
  }
  CounterEvidence Of(std::string_view label) {
    saving_.label = label;
    return CounterEvidenceOf(figures_, saving_);
  }

  RankBuilder builder_;
  DeviceFigures figures_;
  KernelSaving saving_;
};

TEST_F(CounterEvidenceTest, WithoutCountersThereIsNone) {
  EXPECT_EQ(Of("memory_bound").text, "");
  EXPECT_EQ(Of("memory_bound").caveat, "");
}

TEST_F(CounterEvidenceTest, MeansAreByTimeWithTheirErrors) {
  Shows(0, {{CounterId::kTensorActive, 0.02, 0.001}, {CounterId::kDram, 0.9, 0.01}});
  Shows(1, {{CounterId::kDram, 0.5, 0.04}});
  const CounterEvidence found = Of("memory_bound");
  EXPECT_EQ(found.text,
            "hardware counters of these kernels: device memory busy 80.0 % ± 1.2 %, tensor cores "
            "busy 2.0 % ± 0.1 %");
  EXPECT_EQ(found.caveat, "");
  EXPECT_EQ(Of("dataloader").text, "");
}

TEST_F(CounterEvidenceTest, WhatIsKnownOfLittleOfTheTimeIsNotSaid) {
  Shows(1, {{CounterId::kDram, 0.9, 0.01}});
  EXPECT_EQ(Of("memory_bound").text, "");
}

TEST_F(CounterEvidenceTest, SpeaksAgainstALabelOnlyBeyondItsError) {
  Shows(0, {{CounterId::kDram, 0.2, 0.01}, {CounterId::kTensorActive, 0.95, 0.01}});
  EXPECT_EQ(Of("memory_bound").caveat, "") << "the small kernel may be at 100 %";
  EXPECT_EQ(Of("inefficient_gemm").caveat, "") << "and use no tensor cores";
  Shows(1, {{CounterId::kDram, 0.2, 0.01}, {CounterId::kTensorActive, 0.95, 0.01}});
  EXPECT_EQ(Of("memory_bound").caveat,
            "hardware counters: device memory busy 20.0 % ± 0.8 % while these kernels run: "
            "something else than moving data takes their time, too");
  EXPECT_NE(Of("inefficient_gemm").caveat, "");
  EXPECT_NE(Of("low_precision_unused").caveat, "");
  EXPECT_EQ(Of("throttled").caveat, "");
  figures_.kernel_counters.clear();
  for (const std::uint32_t op : {0, 1})
    Shows(op, {{CounterId::kDram, 0.2, 0.1}, {CounterId::kTensorActive, 0.85, 0.03}});
  EXPECT_EQ(Of("memory_bound").caveat, "") << "it may be as much as 50 %";
  EXPECT_EQ(Of("inefficient_gemm").caveat, "");
}

TEST_F(CounterEvidenceTest, MemoryAndTensorCoresAreSeenHoweverTheyWereSampled) {
  for (const std::uint32_t op : {0, 1})
    Shows(op, {{CounterId::kDramRead, 0.5, 0.003},
               {CounterId::kDramWrite, 0.25, 0.004},
               {CounterId::kTensorHmma, 0.1, 0.002}});
  EXPECT_EQ(Of("memory_bound").text,
            "hardware counters of these kernels: device memory busy 75.0 % ± 0.4 %, tensor cores "
            "busy 10.0 % ± 0.2 %");
}

TEST_F(CounterEvidenceTest, TellsWhatHoldsUpTheKernelsWithMostTime) {
  EXPECT_EQ(KernelLimitsOf(figures_, 2), "");
  Shows(0, {{CounterId::kTensorActive, 0.9, 0.01}});
  Shows(1, {{CounterId::kTensorActive, 0.05, 0.01},
            {CounterId::kDram, 0.4, 0.02},
            {CounterId::kSmActive, 0.95, 0}});
  figures_.kernel_counters[0].ns = 3'000'000;
  figures_.kernel_counters[1].ns = 1'000'000;
  EXPECT_EQ(KernelLimitsOf(figures_, 2),
            "hardware counters: large, 1.500 ms a step: at the limit of the tensor cores (tensor "
            "cores busy 90.0 % ± 1.0 %); small, 500.0 us a step: at no unit's limit: warps wait "
            "(tensor cores busy 5.0 % ± 1.0 %, device memory busy 40.0 % ± 2.0 %)");
  figures_.kernel_counters.erase(figures_.kernel_counters.begin());
  figures_.kernel_counters[0].values.clear();
  EXPECT_EQ(KernelLimitsOf(figures_, 2), "") << "nothing is known of it";
}

TEST_F(CounterEvidenceTest, TellsTheClockOfBusyTensorCores) {
  Device& device = builder_.rank().devices[0];
  device.cc_major = 9, device.cc_minor = 0, device.sm_count = 132, device.sm_clock_khz = 1'980'000;
  Shows(0, {{CounterId::kTensorActive, 0.9, 0.01}});
  figures_.kernel_counters[0].ns = 3'000'000;
  figures_.kernel_counters[0].tensor_at_rated = CounterShare{CounterId::kTensorActive, 0.675, 0.01};
  EXPECT_NE(KernelLimitsOf(figures_, 1).find("± 1.0 %, at 1372 of 1829 MHz)"), std::string::npos)
      << KernelLimitsOf(figures_, 1);
}

}  // namespace
}  // namespace traceinject
