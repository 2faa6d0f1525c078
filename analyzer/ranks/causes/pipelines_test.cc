// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/pipelines.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(PipelinesTest, ABubbleIsAShareOfTheStep) {
  Pipelines pipelines;
  EXPECT_EQ(pipelines.bubble_share(), 0) << "no step";
  pipelines.bubble_ns = 25;
  pipelines.step_ns = 100;
  EXPECT_EQ(pipelines.bubble_share(), 0.25);
  pipelines.bubble_ns = 101;
  EXPECT_EQ(pipelines.bubble_share(), 1) << "what is blocked goes on after the step";
}

}  // namespace
}  // namespace traceinject
