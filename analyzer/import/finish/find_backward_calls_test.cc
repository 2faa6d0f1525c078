// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/find_backward_calls.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kForward = "flash_fwd_kernel";
constexpr const char* kBackward = "flash_bwd_dq_dk_dv_loop_kernel";
constexpr const char* kConvert = "flash_bwd_convert_dq_kernel";
constexpr std::uint32_t kMain = 0, kEngine = 1;

AttentionShape Shape(std::int64_t query_length, int library = 1) {
  AttentionShape shape;
  shape.library = library;
  shape.batch = shape.heads = shape.kv_heads = shape.key_length = 1;
  shape.query_length = query_length;
  shape.head_size = shape.value_head_size = 64;
  return shape;
}

// A program that launches one thing after another, each 10 ns after the one before.
class Program {
 public:
  void Forward(std::int64_t query_length, bool gradient = true, int library = 1) {
    const std::uint32_t launch = Launch(kMain);
    builder_.AddAttention(now_ - 2, now_ + 7, Shape(query_length, library), false, kMain);
    builder_.rank().attentions.gradient.back() = gradient ? 1 : 0;
    builder_.AddKernel(1'000'000 + now_, 1'000'005 + now_, kForward, launch);
  }
  // In a compiled region.
  void ForwardOfNoCall() {
    builder_.AddKernel(1'000'000 + now_, 1'000'005 + now_, kForward, Launch(kMain));
  }
  void Kernel(const char* name, const char* call = "cudaLaunchKernel") {
    const std::uint32_t launch = Launch(kEngine, call);
    builder_.AddKernel(1'000'000 + now_, 1'000'005 + now_, name, launch);
  }
  void Backward() {
    Kernel(kBackward);
    Kernel(kConvert);
    Product();
  }
  void Product() {
    now_ += 10;
    builder_.AddGemm(now_, now_ + 5, {}, kEngine);
  }

  // Lengths of the queries of the backward calls that are found, by time.
  std::vector<std::int64_t> Find() {
    FindBackwardCalls(builder_.rank());
    const Attentions& calls = builder_.rank().attentions;
    EXPECT_TRUE(std::is_sorted(calls.start.begin(), calls.start.end()));
    std::vector<std::int64_t> found;
    for (std::size_t row = 0; row < calls.size(); ++row) {
      if (calls.backward[row] == 0) continue;
      EXPECT_EQ(calls.end[row], kOpen);
      EXPECT_EQ(calls.thread[row], kEngine);
      found.push_back(builder_.rank().attention_shapes[calls.shape[row]].query_length);
    }
    return found;
  }

  RankBuilder& builder() { return builder_; }

 private:
  std::uint32_t Launch(std::uint32_t thread, const char* call = "cudaLaunchKernel") {
    now_ += 10;
    return builder_.AddApi(now_, now_ + 5, call, thread);
  }

  RankBuilder builder_;
  TimeNs now_ = 0;
};

using Lengths = std::vector<std::int64_t>;

TEST(FindBackwardCalls, TheLatestForwardComesFirst) {
  Program program;
  for (const std::int64_t length : {1, 2, 3}) program.Forward(length);
  for (int i = 0; i < 3; ++i) program.Backward();
  program.Forward(4);
  program.Backward();
  EXPECT_EQ(program.Find(), (Lengths{3, 2, 1, 4}));
}

TEST(FindBackwardCalls, WithoutAProductBetweenThemANameThatComesAgainBeginsTheNext) {
  Program program;
  program.Forward(1);
  program.Forward(2);
  for (int i = 0; i < 2; ++i) {
    program.Kernel(kBackward);
    program.Kernel("vectorized_elementwise_kernel");
    program.Kernel(kConvert);
  }
  EXPECT_EQ(program.Find(), (Lengths{2, 1}));
}

TEST(FindBackwardCalls, CallsWithoutGradientsAndOfOtherLibrariesHaveNone) {
  Program program;
  program.Forward(1);
  program.Forward(2, false);
  program.Forward(3, true, 2);
  program.Backward();
  program.Backward();
  EXPECT_EQ(program.Find(), (Lengths{1})) << "a second backward belongs to nothing that is known";
}

TEST(FindBackwardCalls, AForwardOfNoKnownCallKeepsItsBackward) {
  Program program;
  program.Forward(1);
  program.ForwardOfNoCall();
  program.Forward(3);
  for (int i = 0; i < 3; ++i) program.Backward();
  EXPECT_EQ(program.Find(), (Lengths{3, 1}));
}

TEST(FindBackwardCalls, KernelsOfGraphsTakeNoPart) {
  Program program;
  program.Forward(1);
  program.Kernel(kBackward, "cudaGraphLaunch");
  program.Backward();
  EXPECT_EQ(program.Find(), (Lengths{1}));
}

TEST(FindBackwardCalls, ACallDoneByProductsHasNone) {
  Program program;
  program.Forward(1);
  program.builder().AddGemm(10, 12, {}, kMain);
  program.Forward(2);
  program.Backward();
  program.Backward();
  EXPECT_EQ(program.Find(), (Lengths{2}));
}

TEST(FindBackwardCalls, WhereTheRecordingTellsNothingIsAdded) {
  Program program;
  program.Forward(1);
  program.builder().AddAttention(500, kOpen, Shape(1), true, kEngine);
  program.Backward();
  EXPECT_EQ(program.Find(), (Lengths{1}));
}

// Steps of random depth, each backward in the reverse order of its forward, as the engine does it.
TEST(FindBackwardCalls, RandomStepsAreMatchedExactly) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Program program;
    Lengths expected;
    for (int step = 0; step < 10; ++step) {
      Lengths open;
      for (std::size_t layers = 1 + random() % 6; layers > 0; --layers) {
        const bool gradient = random() % 4 != 0;
        open.push_back(1 + static_cast<std::int64_t>(random() % 50));
        program.Forward(open.back(), gradient);
        if (!gradient) open.pop_back();
      }
      for (; !open.empty(); open.pop_back()) {
        expected.push_back(open.back());
        program.Backward();
      }
    }
    EXPECT_EQ(program.Find(), expected);
  }
}

}  // namespace
}  // namespace traceinject
