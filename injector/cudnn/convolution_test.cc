// SPDX-License-Identifier: Apache-2.0
#include "injector/cudnn/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace traceinject {
namespace {

constexpr int kCudaFloat = 0, kCudaHalf = 2, kCudaBfloat16 = 14;

ConvolutionTensor Tensor(std::initializer_list<std::int64_t> sizes, int type = kCudaBfloat16) {
  ConvolutionTensor tensor;
  tensor.count = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), tensor.sizes.begin());
  tensor.type = type;
  return tensor;
}

double Flops(const Convolution& convolution) {
  return 2.0 * static_cast<double>(convolution.m) * static_cast<double>(convolution.n) *
         static_cast<double>(convolution.k) * static_cast<double>(convolution.groups);
}

// The first one of ResNet-50.
const ConvolutionTensor kImages = Tensor({32, 3, 224, 224}), kFilter = Tensor({64, 3, 7, 7}),
                        kResult = Tensor({32, 64, 112, 112});

TEST(ConvolutionTest, IsTheProductThatItAmountsTo) {
  for (const ConvolutionKind kind : {ConvolutionKind::kForward, ConvolutionKind::kBackwardData,
                                     ConvolutionKind::kBackwardFilter}) {
    const auto found = ConvolutionOf(kind, kImages, kFilter, kResult);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kind, kind);
    EXPECT_EQ(found->m, 64);
    EXPECT_EQ(found->n, 32 * 112 * 112);
    EXPECT_EQ(found->k, 3 * 7 * 7);
    EXPECT_EQ(found->groups, 1);
    // As published: 118 million multiplications and additions an image.
    EXPECT_NEAR(Flops(*found) / 2 / 32, 118e6, 0.1e6);
    EXPECT_EQ(found->least_bytes, 2 * (32 * 3 * 224 * 224 + 64 * 3 * 7 * 7 + 32 * 64 * 112 * 112));
  }
}

TEST(ConvolutionTest, GroupsAndAnyNumberOfPlaces) {
  const auto depthwise = ConvolutionOf(ConvolutionKind::kForward, Tensor({8, 96, 56, 56}),
                                       Tensor({96, 1, 3, 3}), Tensor({8, 96, 56, 56}));
  ASSERT_TRUE(depthwise);
  EXPECT_EQ(depthwise->groups, 96);
  EXPECT_EQ(depthwise->m, 1);
  EXPECT_EQ(Flops(*depthwise), 2.0 * 8 * 96 * 56 * 56 * 9);
  const auto line = ConvolutionOf(ConvolutionKind::kForward, Tensor({4, 10, 100}),
                                  Tensor({20, 10, 5}), Tensor({4, 20, 96}));
  ASSERT_TRUE(line);
  EXPECT_EQ(Flops(*line), 2.0 * 4 * 20 * 96 * 10 * 5);
  const auto volume = ConvolutionOf(ConvolutionKind::kForward, Tensor({1, 2, 8, 8, 8}),
                                    Tensor({4, 2, 3, 3, 3}), Tensor({1, 4, 6, 6, 6}));
  ASSERT_TRUE(volume);
  EXPECT_EQ(Flops(*volume), 2.0 * 4 * 216 * 2 * 27);
}

TEST(ConvolutionTest, TypesAreThoseOfWhatIsReadAndOfTheResult) {
  const auto input = Tensor({1, 2, 4, 4}, kCudaHalf), weights = Tensor({3, 2, 1, 1}, kCudaBfloat16),
             output = Tensor({1, 3, 4, 4}, kCudaFloat);
  const auto types = [&](ConvolutionKind kind) {
    const auto found = ConvolutionOf(kind, input, weights, output);
    return std::array{found->type_a, found->type_b, found->type_c};
  };
  EXPECT_EQ(types(ConvolutionKind::kForward), (std::array{kCudaHalf, kCudaBfloat16, kCudaFloat}));
  EXPECT_EQ(types(ConvolutionKind::kBackwardData),
            (std::array{kCudaFloat, kCudaBfloat16, kCudaHalf}));
  EXPECT_EQ(types(ConvolutionKind::kBackwardFilter),
            (std::array{kCudaHalf, kCudaFloat, kCudaBfloat16}));
}

TEST(ConvolutionTest, WhatIsNotKnownHasNoBytes) {
  EXPECT_EQ(
      ConvolutionOf(ConvolutionKind::kForward, Tensor({32, 3, 224, 224}, -1), kFilter, kResult)
          ->least_bytes,
      0);
  // The accumulator of a fused kernel is not written.
  ConvolutionTensor inner = Tensor({32, 64, 112, 112}, kCudaFloat);
  inner.is_virtual = true;
  EXPECT_EQ(ConvolutionOf(ConvolutionKind::kForward, kImages, kFilter, inner)->least_bytes,
            ConvolutionOf(ConvolutionKind::kForward, kImages, kFilter, kResult)->least_bytes);
}

TEST(ConvolutionTest, SizesThatDoNotFitAreNone) {
  constexpr auto kForward = ConvolutionKind::kForward;
  EXPECT_FALSE(ConvolutionOf(kForward, {}, {}, {}));
  EXPECT_FALSE(ConvolutionOf(kForward, kImages, Tensor({64, 2, 7, 7}), kResult));
  EXPECT_FALSE(ConvolutionOf(kForward, kImages, Tensor({64, 0, 7, 7}), kResult));
  EXPECT_FALSE(ConvolutionOf(kForward, kImages, Tensor({64, 6, 7, 7}), kResult)) << "no group";
  EXPECT_FALSE(ConvolutionOf(kForward, kImages, kFilter, Tensor({32, 65, 112, 112})));
  EXPECT_FALSE(ConvolutionOf(kForward, kImages, kFilter, Tensor({31, 64, 112, 112})));
  EXPECT_FALSE(ConvolutionOf(kForward, kImages, kFilter, Tensor({32, 64, 112, -1})));
  EXPECT_FALSE(ConvolutionOf(kForward, kImages, kFilter, Tensor({32, 64, 112})));
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_FALSE(
      ConvolutionOf(kForward, Tensor({kHuge, 3, 7, 7}), kFilter, Tensor({kHuge, 64, 9, 9})));
}

}  // namespace
}  // namespace traceinject
