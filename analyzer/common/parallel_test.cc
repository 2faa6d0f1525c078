// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace traceinject {
namespace {

TEST(Parallel, EveryTaskRunsOnce) {
  std::vector<std::atomic<int>> runs(1000);
  std::vector<std::function<void()>> tasks;
  for (std::atomic<int>& run : runs) tasks.push_back([&run] { ++run; });
  RunInParallel(tasks);
  for (const std::atomic<int>& run : runs) EXPECT_EQ(run, 1);
  RunInParallel({});
}

TEST(Parallel, WhatATaskThrowsComesBackAndEndsTheRest) {
  std::atomic<int> begun{0};
  std::vector<std::function<void()>> tasks = {[] { throw std::runtime_error("no memory"); }};
  for (int i = 0; i < 100'000; ++i) tasks.push_back([&begun] { ++begun; });
  try {
    RunInParallel(tasks);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no memory");
  }
  const int after = begun;
  EXPECT_EQ(begun, after) << "all threads have ended";
}

}  // namespace
}  // namespace traceinject
