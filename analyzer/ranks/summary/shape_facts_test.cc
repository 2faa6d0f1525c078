// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/shape_facts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/summary/summarise_rank.h"

namespace traceinject {
namespace {

constexpr int kSteps = 12;

class ShapeFactsTest : public testing::Test {
 protected:
  // At `at`, on the host and the GPU; with the stack of its launch where there is one.
  void Launch(TimeNs at, TimeNs length, const std::string& name, std::uint32_t stack = kNone,
              std::uint32_t thread = 0) {
    const auto launch = builder_.AddApi(at, at + 5 * kUs, "cudaLaunchKernel", thread);
    builder_.AddKernel(at + 10 * kUs, at + 10 * kUs + length, name, launch);
    if (stack != kNone)
      builder_.AddLook(at, stack, StackKind::kLaunch, builder_.rank().api.correlation[launch],
                       thread);
  }
  RankSummary Summarize() {
    builder_.rank().end = kSteps * 10 * kMs;
    const std::vector<RankSummary> summaries = SummarizeRank(builder_.rank());
    EXPECT_EQ(summaries.size(), 1U);
    const Status checked = CheckSummary(summaries.at(0));
    EXPECT_TRUE(checked.ok()) << checked.error();
    return summaries.at(0);
  }

  RankBuilder builder_;
};

TEST_F(ShapeFactsTest, ProductsAreToldApartAndOtherKernelsByTheirLaunch) {
  GemmShape square;
  square.m = square.n = square.k = 4096;
  square.batch = 1;
  GemmShape flat = square;
  flat.m = 16;
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs at = step * 10 * kMs;
    Launch(at + 1 * kMs, 2 * kMs, "gemm");
    builder_.AddGemm(at + 1 * kMs - kUs, at + 1 * kMs + 6 * kUs, square);
    Launch(at + 4 * kMs, 1 * kMs, "gemm");
    builder_.AddGemm(at + 4 * kMs - kUs, at + 4 * kMs + 6 * kUs, flat);
    Launch(at + 6 * kMs, 1 * kMs, "add");
    builder_.AddStepMark(at + 6 * kMs + 6 * kUs);
  }
  const RankSummary summary = Summarize();
  ASSERT_EQ(summary.kernels.size(), 2U);
  const KernelFacts& gemm = summary.kernels[0];
  ASSERT_EQ(gemm.shapes.size(), 2U);
  EXPECT_EQ(gemm.shapes[0].shape.product, (std::array<std::int64_t, 4>{4096, 4096, 4096, 1}));
  EXPECT_EQ(gemm.shapes[0].total_ns, 2 * gemm.shapes[1].total_ns);
  EXPECT_EQ(gemm.shapes[1].shape.product, (std::array<std::int64_t, 4>{16, 4096, 4096, 1}));
  EXPECT_EQ(gemm.shapes[0].count + gemm.shapes[1].count, gemm.count);
  ASSERT_EQ(summary.kernels[1].shapes.size(), 1U);
  EXPECT_EQ(summary.kernels[1].shapes[0].shape.product, (std::array<std::int64_t, 4>{}));
  EXPECT_NE(summary.kernels[1].shapes[0].shape.launch, (std::array<std::int32_t, 6>{}));
}

TEST_F(ShapeFactsTest, LaunchesWithStacksDivideTheTimeOfTheirThread) {
  const auto near = builder_.AddStack({{"main", "/w/train.py", 7}});
  const auto far = builder_.AddStack(
      {{"_call_impl", "/w/module.py", 5, "Net.h.3"}, {"extra", "/w/train.py", 41}});
  const std::uint32_t other = 1;
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs at = step * 10 * kMs;
    for (int i = 0; i < 4; ++i) {
      const bool told = i % 2 == 0;
      Launch(at + (1 + i) * kMs, 500 * kUs, "add", told ? (i < 2 ? near : far) : kNone);
    }
    Launch(at + 6 * kMs, 1 * kMs, "add", kNone, other);
    builder_.AddStepMark(at + 6 * kMs + 6 * kUs);
  }
  const RankSummary summary = Summarize();
  const ShapeFacts& shape = summary.kernels.at(0).shapes.at(0);
  ASSERT_EQ(shape.lines.size(), 2U);
  // What the other thread launched is at neither.
  EXPECT_EQ(shape.lines[0].ns, shape.total_ns / 3);
  EXPECT_EQ(shape.lines[1].ns, shape.total_ns / 3);
  const std::set<std::string> texts = {shape.lines[0].place, shape.lines[1].place};
  EXPECT_EQ(texts, (std::set<std::string>{"train.py:7 in main", "train.py:41 in extra (Net.h.*)"}));
}

TEST_F(ShapeFactsTest, NoMoreThanTheLargest) {
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs at = step * 10 * kMs;
    for (int i = 0; i < 200; ++i) {
      GemmShape shape;
      shape.m = shape.n = shape.batch = 1;
      shape.k = i + 1;
      const TimeNs begin = at + i * 40 * kUs;
      Launch(begin, (10 + i / 10) * kUs, "gemm");
      builder_.AddGemm(begin - kUs, begin + 6 * kUs, shape);
    }
    builder_.AddStepMark(at + 200 * 40 * kUs);
  }
  const RankSummary summary = Summarize();
  ASSERT_EQ(summary.kernels.at(0).shapes.size(), kMaxShapeFacts);
  for (const ShapeFacts& shape : summary.kernels[0].shapes) EXPECT_GT(shape.shape.product[2], 70);
}

}  // namespace
}  // namespace traceinject
