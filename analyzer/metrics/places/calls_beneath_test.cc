// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/calls_beneath.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr char kTrainer[] = "/usr/lib/python3/dist-packages/transformers/trainer.py";
constexpr char kLoader[] = "/usr/lib/python3/dist-packages/accelerate/data_loader.py";
constexpr char kFetch[] = "/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py";

class CallsBeneathTest : public testing::Test {
 protected:
  // Of frames within main() of the program, so much time.
  void Add(std::vector<RankBuilder::Frame> frames, double looks) {
    frames.insert(frames.begin(), {"main", "/w/train.py", line_});
    const std::uint32_t stack = builder_.AddStack(frames);
    stacks_.emplace_back(stack, looks);
  }
  std::string Text() {
    const CodeSites sites(builder_.rank());
    PlaceTally tally;
    tally.AddTime(1'000'000);
    for (const auto& [stack, looks] : stacks_)
      tally.AddLooks(sites.Of(stack), {looks, static_cast<std::int64_t>(looks)});
    return CallsBeneath(builder_.rank(), tally.Finish());
  }

  RankBuilder builder_;
  int line_ = 60;
  std::vector<std::pair<std::uint32_t, double>> stacks_;
};

TEST_F(CallsBeneathTest, NamesWhatALineThatTrainsWaitsFor) {
  Add({{"train", kTrainer, 2100}, {"_inner_training_loop", kTrainer, 2500}, {"step", kTrainer, 7}},
      20);
  Add({{"train", kTrainer, 2100},
       {"_inner_training_loop", kTrainer, 2450},
       {"__iter__", kLoader, 550}},
      10);
  for (const int line : {51, 52})
    Add({{"train", kTrainer, 2100},
         {"_inner_training_loop", kTrainer, 2450},
         {"__iter__", kLoader, 566},
         {"fetch", kFetch, line}},
        35);
  EXPECT_EQ(Text(),
            "train.py:60 in main -> transformers/trainer.py:2450 in _inner_training_loop -> "
            "accelerate/data_loader.py:566 in __iter__");
}

TEST_F(CallsBeneathTest, OneForkIsNamedOnce) {
  Add({{"train", kTrainer, 2450}}, 70);
  Add({{"train", kTrainer, 2500}}, 30);
  EXPECT_EQ(Text(), "train.py:60 in main -> transformers/trainer.py:2450 in train");
}

TEST_F(CallsBeneathTest, NothingWhereLinesOfTheProgramTellMore) {
  Add({{"train", kTrainer, 2450}}, 70);
  line_ = 61;
  Add({{"train", kTrainer, 2500}}, 30);
  EXPECT_EQ(Text(), "");
}

TEST_F(CallsBeneathTest, NothingWhereTheCallsAreAllOne) {
  Add({{"train", kTrainer, 2450}, {"fetch", kFetch, 51}}, 98);
  Add({{"train", kTrainer, 2500}}, 2);
  EXPECT_EQ(Text(), "") << "2 % are not worth telling";
}

TEST_F(CallsBeneathTest, NothingWhereTheLineItselfHasTheTime) {
  Add({}, 70);
  Add({{"train", kTrainer, 2450}}, 30);
  EXPECT_EQ(Text(), "");
}

}  // namespace
}  // namespace traceinject
