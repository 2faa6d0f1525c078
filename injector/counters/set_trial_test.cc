// SPDX-License-Identifier: Apache-2.0
// What a trial says and how it is asked; tests/end_to_end/counters_test.py runs trials.
#include "injector/counters/set_trial.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "injector/counters/trial_arguments.h"

namespace traceinject {
namespace {

using Outcome = TrialResult::Outcome;

int Exited(int code) { return code << 8; }

TEST(SetTrialTest, ArgumentsComeBack) {
  const auto trial = FromArguments(
      ToArguments({"/lib/libcupti.so.13", "GPU-1", "GH100", 0xfedcba9876543210, 1000}));
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->cupti, "/lib/libcupti.so.13");
  EXPECT_EQ(trial->chip, "GH100");
  EXPECT_EQ(trial->set, 0xfedcba9876543210);
  EXPECT_EQ(trial->interval_ns, 1000);
  EXPECT_FALSE(FromArguments({}));
  EXPECT_FALSE(FromArguments({"try-counters", "a", "b", "c"}));
  EXPECT_FALSE(FromArguments({"try-counters", "a", "b", "1", "-1"}));
  EXPECT_FALSE(FromArguments({"try-counters", "a", "b", "full", "1"}));
  EXPECT_TRUE(FromArguments({"try-counters", "a", "b", "1", "1"}));
  EXPECT_FALSE(FromArguments({"something", "a", "b", "c", "1"}));
}

TEST(SetTrialTest, WhatATrialSays) {
  EXPECT_EQ(ReadTrial("passed\n", Exited(0)).outcome, Outcome::kPassed);
  EXPECT_EQ(ReadTrial("passed\n", SIGSEGV).outcome, Outcome::kPassed) << "the end does not matter";
  const TrialResult refused = ReadTrial("failed cuptiPmSamplingEnable 35\n", Exited(0));
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.function, "cuptiPmSamplingEnable");
  EXPECT_EQ(refused.result, 35);
  const TrialResult untried = ReadTrial("untried CUDA does not start\n", Exited(0));
  EXPECT_EQ(untried.outcome, Outcome::kUntried);
  EXPECT_EQ(untried.function, "CUDA does not start");
  EXPECT_EQ(ReadTrial("", Exited(127)).outcome, Outcome::kUntried);
}

TEST(SetTrialTest, AnEndWithoutAWordIsACrash) {
  EXPECT_EQ(ReadTrial("", SIGSEGV).outcome, Outcome::kCrashed);
  EXPECT_EQ(ReadTrial("", SIGSEGV).function, "signal 11");
  EXPECT_EQ(ReadTrial("", SIGKILL).function, "it hung");
  EXPECT_EQ(ReadTrial("", SIGALRM).function, "it hung");
  EXPECT_EQ(ReadTrial("", Exited(0)).outcome, Outcome::kCrashed);
  for (const char* half :
       {"pass", "failed cuptiPmSamplingStart", "failed x 3", "failed x y\n", "failed \n"})
    EXPECT_EQ(ReadTrial(half, SIGABRT).outcome, Outcome::kCrashed) << half;
}

}  // namespace
}  // namespace traceinject
