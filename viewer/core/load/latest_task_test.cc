// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/latest_task.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

using Task = LatestTask<int, int>;

TEST(LatestTaskTest, AnswersAndKeepsTheAnswer) {
  std::atomic<int> calls = 0;
  Task task([&](int request, const std::atomic<bool>&) {
    ++calls;
    return std::optional(request * 2);
  });
  EXPECT_EQ(task.answer(), nullptr);
  EXPECT_FALSE(task.busy());
  task.Ask(21);
  task.Wait();
  ASSERT_NE(task.answer(), nullptr);
  EXPECT_EQ(*task.answer(), 42);
  task.Ask(21);
  EXPECT_FALSE(task.busy()) << "the same request is not answered twice";
  EXPECT_EQ(calls, 1);
}

// The first request only ends by being cancelled.
TEST(LatestTaskTest, ANewerRequestCancelsAndTheOldAnswerStays) {
  std::atomic<bool> started = false;
  Task task([&](int request, const std::atomic<bool>& cancelled) -> std::optional<int> {
    if (request != 2) return request;
    started = true;
    while (!cancelled) std::this_thread::yield();
    return std::nullopt;
  });
  task.Ask(1);
  task.Wait();
  task.Ask(2);
  while (!started) std::this_thread::yield();
  EXPECT_TRUE(task.busy());
  EXPECT_EQ(*task.answer(), 1);
  task.Ask(3);
  task.Wait();
  EXPECT_EQ(*task.answer(), 3);
}

TEST(LatestTaskTest, EndsInTheMiddleOfWork) {
  std::atomic<bool> started = false;
  {
    Task task([&](int, const std::atomic<bool>& cancelled) -> std::optional<int> {
      started = true;
      while (!cancelled) std::this_thread::yield();
      return std::nullopt;
    });
    task.Ask(1);
    while (!started) std::this_thread::yield();
  }
  SUCCEED();
}

}  // namespace
}  // namespace traceinject
