// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/code/held_up.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/code_run.h"

namespace traceinject {
namespace {

class HeldUpTest : public testing::Test {
 protected:
  void Build(Rank rank) {
    run_.ranks = {std::move(rank)};
    model_ = BuildRows(run_);
  }
  // The event of idle time at a moment.
  EventRef IdleAt(TimeNs time) const {
    for (std::uint32_t row = 0; row < model_.rows.size(); ++row) {
      if (model_.rows[row].kind != RowKind::kIdle) continue;
      return {row, 0, static_cast<std::uint32_t>(model_.rows[row].lanes[0].FirstEndingAfter(time))};
    }
    ADD_FAILURE() << "no row of idle time";
    return {};
  }
  std::vector<std::string> Texts(const HeldUp& found, const std::string& what) const {
    std::vector<std::string> texts;
    for (const auto& [name, value] : HeldUpDetails(run_, model_, found)) {
      if (name == what) texts.push_back(value);
    }
    return texts;
  }

  traceinject::Run run_;
  RowModel model_;
};

using Strings = std::vector<std::string>;

TEST_F(HeldUpTest, NamesTheLinesWithTheirShareOfLooks) {
  Build(MakeCodeRank());
  HeldUpFinder finder(run_, model_);
  const HeldUp found = finder.Find(IdleAt(3 * kCodeStepNs + 8 * kMs));
  EXPECT_EQ(Texts(found, "held up by"),
            (Strings{"data.py:41 in load (choice of numpy/r.py): 75 %, 3 of 4 samples",
                     "train.py:10 in main: 25 %, 1 of 4 samples"}));
  EXPECT_EQ(Texts(found, "sampled thread"), Strings{"100 (python)"});
  EXPECT_EQ(model_.place_labels[0][found.place()], "data.py:41 in load");
}

TEST_F(HeldUpTest, ACallWithAStackOfItsOwnIsExact) {
  RankBuilder builder;
  const auto item = builder.AddStack({{"main", "/w/train.py", 8}});
  builder.AddKernel(0, 10 * kMs, "gemm", builder.AddApi(0, 5'000, "cudaLaunchKernel"));
  builder.AddApi(5 * kMs, 30 * kMs, "cudaStreamSynchronize");
  builder.AddLook(5 * kMs, item, StackKind::kCall, 2);
  const auto launch = builder.AddApi(31 * kMs, 31 * kMs + 5'000, "cudaLaunchKernel");
  builder.AddLook(31 * kMs, item, StackKind::kLaunch, 3);
  builder.AddKernel(31 * kMs + 10'000, 40 * kMs, "gemm", launch);
  Build(builder.rank());
  HeldUpFinder finder(run_, model_);
  const HeldUp found = finder.Find(IdleAt(20 * kMs));
  EXPECT_EQ(Texts(found, "held up by"),
            Strings{"train.py:8 in main: 100 %, by the stack of a call"});
  EXPECT_EQ(Texts(found, "launched at"), Strings{"train.py:8 in main"});
}

// Gaps are often shorter than the time between two looks.
TEST_F(HeldUpTest, WithoutALookTheNearestOne) {
  RankBuilder builder;
  builder.rank().facts.push_back({"stacks", "period_ns", "10000000", ""});
  const auto slow = builder.AddStack({{"main", "/w/train.py", 8}});
  const auto other = builder.AddStack({{"main", "/w/train.py", 9}});
  for (TimeNs i = 0; i < 10; ++i) {
    const auto call = builder.AddApi(i * 10 * kMs, i * 10 * kMs + 5'000, "cudaLaunchKernel");
    builder.AddKernel(i * 10 * kMs + 10'000, (i * 10 + 9) * kMs, "gemm", call);
  }
  builder.AddLook(5 * kMs, slow, StackKind::kTimed, 0, 0, 4, 40 * kMs);
  builder.AddLook(57 * kMs, other);
  Build(builder.rank());
  HeldUpFinder finder(run_, model_);
  EXPECT_EQ(Texts(finder.Find(IdleAt(19 * kMs + kMs / 2)), "held up by"),
            Strings{"probably train.py:8 in main: there in the samples before and after"});
  EXPECT_EQ(Texts(finder.Find(IdleAt(59 * kMs + kMs / 2)), "held up by"),
            Strings{"probably train.py:9 in main: the nearest sample, 2.000 ms away"});
  const HeldUp late = finder.Find(IdleAt(89 * kMs + kMs / 2));
  EXPECT_EQ(Texts(late, "held up by"), Strings{"not known: no sample fell into this time"});
  EXPECT_EQ(late.place(), kNone);
}

TEST_F(HeldUpTest, WithoutStacksNothingIsSaid) {
  RankBuilder builder;
  for (TimeNs i = 0; i < 3; ++i) builder.AddKernel(i * 10 * kMs, (i * 10 + 5) * kMs, "gemm");
  Build(builder.rank());
  HeldUpFinder finder(run_, model_);
  EXPECT_TRUE(HeldUpDetails(run_, model_, finder.Find(IdleAt(7 * kMs))).empty());
}

TEST_F(HeldUpTest, WorkersOfTheLoaderAreLookedAtWhileItIsWaitedFor) {
  RankBuilder builder;
  builder.rank().threads.push_back({500, "worker"});
  builder.rank().workers.push_back({.pid = 500});
  builder.rank().facts.push_back({"stacks", "period_ns", "10000000", ""});
  const auto next = builder.AddStack({{"main", "/w/train.py", 8}});
  const auto read = builder.AddStack({{"read", "/w/data.py", 3}});
  builder.AddKernel(0, 10 * kMs, "gemm", builder.AddApi(0, 5'000, "cudaLaunchKernel"));
  builder.AddDataWait(2 * kMs, 90 * kMs);
  for (TimeNs at = 5 * kMs; at < 90 * kMs; at += 10 * kMs) {
    builder.AddLook(at, next);
    builder.AddLook(at, read, StackKind::kTimed, 0, 2);
  }
  const auto launch = builder.AddApi(91 * kMs, 91 * kMs + 5'000, "cudaLaunchKernel");
  builder.AddKernel(91 * kMs + 10'000, 99 * kMs, "gemm", launch);
  Build(builder.rank());
  HeldUpFinder finder(run_, model_);
  const HeldUp found = finder.Find(IdleAt(50 * kMs));
  EXPECT_EQ(Texts(found, "held up by"), Strings{"train.py:8 in main: 100 %, 8 of 8 samples"});
  EXPECT_EQ(Texts(found, "workers meanwhile"), Strings{"data.py:3 in read: 100 %, 8 of 8 samples"});
}

TEST_F(HeldUpTest, WorkersThatStayedAtALineAreNamedWithoutASampleInTheGap) {
  RankBuilder builder;
  builder.rank().threads.push_back({500, "worker"});
  builder.rank().threads.push_back({501, "worker"});
  builder.rank().workers = {{.pid = 500}, {.pid = 501}};
  const auto read = builder.AddStack({{"read", "/w/data.py", 3}});
  const auto wait = builder.AddStack({{"get", "/usr/lib/python3.12/multiprocessing/queues.py", 3}});
  builder.AddKernel(0, 10 * kMs, "gemm", builder.AddApi(0, 5'000, "cudaLaunchKernel"));
  builder.AddDataWait(2 * kMs, 90 * kMs);
  builder.AddLook(kMs, read, StackKind::kTimed, 0, 2, 20, 200 * kMs);
  builder.AddLook(kMs, wait, StackKind::kTimed, 0, 3, 20, 200 * kMs);
  const auto launch = builder.AddApi(91 * kMs, 91 * kMs + 5'000, "cudaLaunchKernel");
  builder.AddKernel(91 * kMs + 10'000, 99 * kMs, "gemm", launch);
  Build(builder.rank());
  HeldUpFinder finder(run_, model_);
  EXPECT_EQ(Texts(finder.Find(IdleAt(50 * kMs)), "workers meanwhile"),
            Strings{"data.py:3 in read: 1 worker in the samples before and after"});
}

}  // namespace
}  // namespace traceinject
