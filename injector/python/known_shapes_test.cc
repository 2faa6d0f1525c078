// SPDX-License-Identifier: Apache-2.0
#include "injector/python/known_shapes.h"

#include <gtest/gtest.h>

#include <memory>

namespace traceinject {
namespace {

TensorSizes Sizes(std::int64_t batch, std::int64_t length) {
  return {4, {batch, 8, length, 64, 0}};
}

AttentionCall Call(std::int64_t batch, std::int64_t length) {
  return {Sizes(batch, length), Sizes(batch, length), Sizes(batch, length), 4, false};
}

TEST(KnownShapes, WhatWasAddedIsFound) {
  const auto shapes = std::make_unique<KnownShapes>();
  EXPECT_EQ(shapes->Find(Call(2, 128)), 0);
  EXPECT_EQ(shapes->Find({}), 0) << "what no call has is no place's";
  shapes->Add(Call(2, 128), 7);
  EXPECT_EQ(shapes->Find(Call(2, 128)), 7);
  shapes->Add(Call(2, 128), 8);
  EXPECT_EQ(shapes->Find(Call(2, 128)), 8);
}

TEST(KnownShapes, EveryPartOfACallCounts) {
  const auto shapes = std::make_unique<KnownShapes>();
  const AttentionCall call = Call(2, 128);
  shapes->Add(call, 7);
  AttentionCall other = call;
  other.causal = true;
  EXPECT_EQ(shapes->Find(other), 0);
  other = call;
  other.type = 5;
  EXPECT_EQ(shapes->Find(other), 0);
  for (TensorSizes AttentionCall::*part :
       {&AttentionCall::query, &AttentionCall::key, &AttentionCall::value}) {
    other = call;
    (other.*part).of[3] = 32;
    EXPECT_EQ(shapes->Find(other), 0);
    other = call;
    (other.*part).dimensions = 5;
    EXPECT_EQ(shapes->Find(other), 0);
  }
}

// Sequences of all lengths, as in generation: far more than places.
TEST(KnownShapes, TheNumberIsTheRightOneOrNone) {
  const auto shapes = std::make_unique<KnownShapes>();
  constexpr std::int64_t kCalls = 3 * KnownShapes::kPlaces;
  std::int64_t last_found = 0, found = 0;
  for (std::int64_t i = 1; i <= kCalls; ++i) {
    shapes->Add(Call(2, i), i);
    last_found += shapes->Find(Call(2, i)) == i ? 1 : 0;
  }
  EXPECT_EQ(last_found, kCalls);
  for (std::int64_t i = 1; i <= kCalls; ++i) {
    const std::int64_t number = shapes->Find(Call(2, i));
    EXPECT_TRUE(number == i || number == 0);
    found += number == i ? 1 : 0;
  }
  // Of so many that fall where they like, 1 - exp(-3) = 95 % of the places have one.
  EXPECT_GT(found, KnownShapes::kPlaces * 9 / 10);
}

}  // namespace
}  // namespace traceinject
