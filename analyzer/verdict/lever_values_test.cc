// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/lever_values.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

// A loader that takes 40 ms for a batch that the GPU works on for 20 ms.
class LoaderTest : public testing::Test {
 protected:
  LoaderTest() {
    TrainingPlan plan;
    plan.load_ns = 40'000'000;
    plan.items_per_step = 1;
    run_.ranks = {SimulatedTraining(plan).rank()};
    std::fill(waits().loader.begin(), waits().loader.end(), 0);
    rank().loaders.resize(1);
  }

  Rank& rank() { return run_.ranks[0]; }
  DataWaits& waits() { return rank().data_waits; }
  DataLoader& loader() { return rank().loaders[0]; }

  void HasCores(const std::string& affinity, int ranks) {
    rank().facts = {{"host", "cpus_online", "0-15", ""}, {"host", "cpu_affinity", affinity, ""}};
    rank().process.local_world_size = ranks;
  }

  // "name current -> suggested" of all values of the lever with such a setting.
  std::string ValuesOf(const std::string& setting) const {
    const proto::Verdict verdict = BuildReportWithVerdict(run_, {}).verdict();
    EXPECT_EQ(verdict.label(), "dataloader");
    for (const proto::Lever& lever : verdict.levers()) {
      if (lever.setting().find(setting) == std::string::npos) continue;
      std::string text;
      for (const proto::LeverValue& value : lever.values())
        text += value.name() + " " + value.current() + " -> " + value.suggested() + ";";
      return text;
    }
    return "no lever";
  }

  traceinject::Run run_;
};

TEST_F(LoaderTest, AsManyWorkersAsKeepUp) {
  EXPECT_EQ(ValuesOf("num_workers"), "num_workers 0 -> 2;");
}

// Two that are always busy make a batch in the time of a step, 60 ms: 120 ms of work for one.
TEST_F(LoaderTest, WorkersThatAreTooFew) {
  loader().workers = 2;
  EXPECT_EQ(ValuesOf("num_workers"), "num_workers 2 -> 6;");
}

TEST_F(LoaderTest, NoMoreWorkersThanCores) {
  loader().workers = 2;
  HasCores("0-15", 4);
  EXPECT_EQ(ValuesOf("num_workers"), "num_workers 2 -> 3;CPU cores for this rank's workers 3 -> ;");
  loader().workers = 3;
  EXPECT_EQ(ValuesOf("num_workers"), "num_workers 3 -> ;CPU cores for this rank's workers 3 -> ;");
}

TEST_F(LoaderTest, EpochsThatStartWorkersAgain) {
  waits().batch.back() = 0;
  EXPECT_EQ(ValuesOf("num_workers"), "num_workers 0 -> 2;epochs that begin in these steps 1 -> ;");
  loader().persistent_workers = true;
  EXPECT_EQ(ValuesOf("num_workers"), "num_workers 0 -> 2;");
}

TEST_F(LoaderTest, WhichLoaderIsUnknown) {
  std::fill(waits().loader.begin(), waits().loader.end(), kNone);
  EXPECT_EQ(ValuesOf("num_workers"), "");
  EXPECT_EQ(ValuesOf("prefetch_factor"), "");
}

TEST_F(LoaderTest, OfTheLoaderThatIsWaitedFor) {
  rank().loaders.emplace(rank().loaders.begin())->workers = 8;
  std::fill(waits().loader.begin(), waits().loader.end(), 1);
  EXPECT_EQ(ValuesOf("num_workers"), "num_workers 0 -> 2;");
  EXPECT_EQ(ValuesOf("pin_memory"), "pin_memory False -> True;");
}

TEST_F(LoaderTest, PrefetchingAsFarAsItIsNotSet) {
  EXPECT_EQ(ValuesOf("prefetch_factor"),
            "prefetch_factor None -> 4;persistent_workers False -> True;");
  loader().workers = 2;
  loader().prefetch_factor = 2;
  loader().persistent_workers = true;
  EXPECT_EQ(ValuesOf("prefetch_factor"), "prefetch_factor 2 -> 4;");
  loader().prefetch_factor = 4;
  EXPECT_EQ(ValuesOf("prefetch_factor"), "no lever");
}

TEST(CoresForWorkersTest, OneIsLeftForTheProgram) {
  Rank rank;
  EXPECT_FALSE(CoresForWorkers(rank).has_value());
  rank.facts = {{"host", "cpus_online", "0-15", ""}};
  EXPECT_EQ(CoresForWorkers(rank), 15);
  rank.process.local_world_size = 4;
  EXPECT_EQ(CoresForWorkers(rank), 3);
  rank.facts.push_back({"host", "cpu_affinity", "0-3,8-11", ""});  // bound: its own
  EXPECT_EQ(CoresForWorkers(rank), 7);
  rank.facts.push_back({"host", "cpu_quota", "max 100000", ""});
  EXPECT_EQ(CoresForWorkers(rank), 7);
  rank.facts.back().value = "800000 100000";  // of the container, which holds all ranks
  EXPECT_EQ(CoresForWorkers(rank), 1);
  rank.facts = {{"host", "cpus_online", "none", ""}};
  EXPECT_FALSE(CoresForWorkers(rank).has_value());
}

TEST(EnvironmentValuesTest, WhatIsNamedAndSet) {
  Rank rank;
  rank.facts = {{"env", "NCCL_ALGO", "Tree", ""},
                {"env", "NCCL_P2P_DISABLE", "1", ""},
                {"host", "NCCL_PROTO", "LL", ""}};
  using Values = std::vector<LeverValue>;
  EXPECT_EQ(EnvironmentValues("NCCL_PROTO, NCCL_ALGO", rank), (Values{{"NCCL_ALGO", "Tree", ""}}));
  EXPECT_EQ(EnvironmentValues("unset NCCL_P2P_DISABLE", rank),
            (Values{{"NCCL_P2P_DISABLE", "1", "unset"}}));
  EXPECT_EQ(EnvironmentValues("set NCCL_ALGO=Ring, and look", rank),
            (Values{{"NCCL_ALGO", "Tree", "Ring"}}));
  EXPECT_EQ(EnvironmentValues("MY_NCCL_ALGO, NCCL_ALGORITHM", rank), Values{});
}

TEST(EnvironmentValuesTest, WhatTheVerdictSuggestsAndIsSetIsNoLever) {
  TrainingPlan plan;
  plan.allocations_per_step = 10;
  plan.free_ns = 500'000;
  plan.malloc_ns = 400'000;
  traceinject::Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  const auto values = [&]() -> std::string {
    const proto::Verdict verdict = BuildReportWithVerdict(run, {}).verdict();
    for (const proto::Lever& lever : verdict.levers()) {
      if (lever.setting().starts_with("PYTORCH_CUDA_ALLOC_CONF"))
        return lever.values().empty() ? "not set" : lever.values(0).current();
    }
    return "no lever";
  };
  EXPECT_EQ(values(), "not set");
  run.ranks[0].facts = {{"env", "PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:128", ""}};
  EXPECT_EQ(values(), "max_split_size_mb:128");
  run.ranks[0].facts[0].value += ",expandable_segments:True";
  EXPECT_EQ(values(), "no lever");
}

}  // namespace
}  // namespace traceinject
