// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/compare_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "analyzer/compare/testing/noisy_training.h"
#include "analyzer/compare/text_comparison.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/verdict/testing/simulated_ranks.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

TrainingPlan Plan() {
  TrainingPlan plan;
  plan.items_per_step = 1;
  plan.layer = {{"ampere_bf16_s16816gemm_bf16", 400'000}, {"elementwise_kernel", 100'000}};
  return plan;
}

Run RunOf(const TrainingPlan& plan, std::uint64_t seed = 1) {
  return NoisyTraining(plan, {.drift = 0, .outlier_chance = 0, .spell_chance = 0}, seed);
}

Comparison Compare(const Run& before, const Run& after) {
  ComparedRun one = PrepareRun(before, {}), other = PrepareRun(after, {});
  return CompareRuns(one, other);
}

std::string TextOf(const Comparison& found) {
  TextPage page(false);
  WriteComparison(found, 15, page);
  return page.text();
}

template <typename Sentences>
bool Tells(const Sentences& sentences, const std::string& part) {
  for (const std::string& sentence : sentences) {
    if (Says(sentence, part)) return true;
  }
  return false;
}

const proto::KernelChange* Row(const Comparison& found, const std::string& state) {
  for (const proto::KernelChange& row : found.kernels().rows()) {
    if (row.state() == state) return &row;
  }
  return nullptr;
}

void ExpectExact(const Comparison& found) {
  std::int64_t before_ns = 0, after_ns = 0, change_ns = 0;
  for (const proto::StepPart& part : found.parts()) {
    before_ns += part.change().before_ns();
    after_ns += part.change().after_ns();
    change_ns += part.change().change_ns();
  }
  EXPECT_EQ(before_ns, found.step_ns().before_ns());
  EXPECT_EQ(after_ns, found.step_ns().after_ns());
  EXPECT_EQ(change_ns, found.step_ns().change_ns());
}

TEST(CompareRunsTest, ChangesOfThePartsAreThatOfTheStep) {
  TrainingPlan slow = Plan();
  slow.load_ns = 3'000'000;
  slow.layer[0].length_ns += 80'000;
  const Comparison found = Compare(RunOf(Plan(), 1), RunOf(slow, 2));
  EXPECT_EQ(found.outcome(), "slower");
  ExpectExact(found);
  // 10 layers a step, 0.8 ms, and 3 ms of loading.
  EXPECT_NEAR(static_cast<double>(found.step_ns().change_ns()), 3.8e6, 0.3e6);
  for (const proto::StepPart& part : found.parts()) {
    if (part.name() == "compute") {
      EXPECT_NEAR(static_cast<double>(part.change().change_ns()), 0.8e6, 0.15e6);
    }
    if (part.name() == "idle: data wait") {
      EXPECT_NEAR(static_cast<double>(part.change().change_ns()), 3e6, 0.2e6);
    }
  }
  EXPECT_EQ(found.after().verdict(), "dataloader");
  EXPECT_TRUE(Says(TextOf(found), "-> idle: data wait +"));
}

TEST(CompareRunsTest, RunsOfUnlikeLengthAreTheSame) {
  TrainingPlan longer = Plan();
  longer.steps = 3 * Plan().steps;
  const Comparison found = Compare(RunOf(Plan(), 1), RunOf(longer, 2));
  EXPECT_EQ(found.outcome(), "no difference") << found.conclusion();
  EXPECT_TRUE(Says(found.conclusion(), "A change of more than"));
  EXPECT_EQ(found.kernels().rows_size(), 0);
  EXPECT_EQ(found.kernels().compared(), 2);
  EXPECT_EQ(found.cautions_size(), 0) << found.cautions(0);
  EXPECT_EQ(found.settings_size(), 0);
}

TEST(CompareRunsTest, ARunAndItself) {
  const traceinject::Run run = RunOf(Plan());
  const Comparison found = Compare(run, run);
  EXPECT_EQ(found.outcome(), "no difference");
  EXPECT_TRUE(Says(found.conclusion(), "the same recording"));
  EXPECT_EQ(found.step_ns().change_ns(), 0);
  EXPECT_EQ(found.kernels().net_ns(), 0);
  ExpectExact(found);
}

TEST(CompareRunsTest, KernelsByNameGridAndBlock) {
  TrainingPlan before = Plan(), after = Plan();
  before.layer.push_back({"gone_kernel", 50'000});
  before.layer.push_back({"reshaped_kernel", 50'000, std::nullopt, 4});
  after.layer.push_back({"new_kernel", 50'000});
  after.layer.push_back({"reshaped_kernel", 80'000, std::nullopt, 8});
  after.layer.push_back({"elementwise_kernel", 100'000});  // twice a layer
  after.layer[0].length_ns = 500'000;
  const Comparison found = Compare(RunOf(before, 1), RunOf(after, 2));
  ASSERT_NE(Row(found, "gone"), nullptr);
  EXPECT_EQ(Row(found, "gone")->name(), "gone_kernel");
  EXPECT_FALSE(Row(found, "gone")->has_mean_after_ns());
  ASSERT_NE(Row(found, "new"), nullptr);
  EXPECT_EQ(Row(found, "new")->name(), "new_kernel");
  EXPECT_NEAR(Row(found, "new")->count_after(), 10, 0.01);
  ASSERT_NE(Row(found, "reshaped"), nullptr);
  EXPECT_EQ(Row(found, "reshaped")->grid(0), 8);
  EXPECT_EQ(Row(found, "reshaped")->grid_before(0), 4);
  ASSERT_NE(Row(found, "more"), nullptr);
  EXPECT_EQ(Row(found, "more")->name(), "elementwise_kernel");
  EXPECT_NEAR(Row(found, "more")->count_after() / Row(found, "more")->count_before(), 2, 0.01);
  ASSERT_NE(Row(found, "slower"), nullptr);
  EXPECT_NEAR(Row(found, "slower")->mean_after_ns(), 500'000, 20'000);
  // By the change of a step: +1 ms each, then what is shorter.
  EXPECT_EQ(found.kernels().rows_size(), 5);
  EXPECT_GE(std::abs(found.kernels().rows(0).step_ns().change_ns()),
            std::abs(found.kernels().rows(4).step_ns().change_ns()));
  EXPECT_NEAR(static_cast<double>(found.kernels().net_ns()), 2.3e6, 0.3e6);
}

TEST(CompareRunsTest, RunsThatCannotBeComparedAreComparedWithCaution) {
  traceinject::Run other_gpu = RunOf(Plan(), 2);
  other_gpu.ranks[0].devices[0].name = "NVIDIA A100";
  const Comparison gpus = Compare(RunOf(Plan()), other_gpu);
  EXPECT_TRUE(Tells(gpus.cautions(), "different GPUs: NVIDIA H200 before, NVIDIA A100 after"));
  EXPECT_EQ(gpus.settings(0).kind(), "gpu");
  EXPECT_TRUE(gpus.has_step_ns());

  const Comparison ranks = Compare(RunOfRanks({{}, {}}), RunOfRanks({{}, {}, {}}));
  EXPECT_TRUE(Tells(ranks.cautions(), "different number of ranks: 2 processes"));

  TrainingPlan other = Plan();
  other.layer = {{"something_else", 500'000}};
  EXPECT_TRUE(
      Tells(Compare(RunOf(Plan()), RunOf(other, 2)).cautions(), "probably not the same program"));
}

TEST(CompareRunsTest, AnotherBatchIsTold) {
  const auto with_batch = [](std::int64_t samples, std::uint64_t seed) {
    TrainingPlan plan = Plan();
    plan.load_ns = 100'000;
    traceinject::Run run = RunOf(plan, seed);
    DataLoader loader;
    loader.batch_size = static_cast<int>(samples);
    run.ranks[0].loaders = {loader};
    for (std::size_t i = 0; i < run.ranks[0].data_waits.size(); ++i) {
      run.ranks[0].data_waits.loader[i] = 0;
      run.ranks[0].data_waits.samples[i] = samples;
      run.ranks[0].data_waits.batch[i] = static_cast<std::int64_t>(i);
    }
    return run;
  };
  const Comparison found = Compare(with_batch(4, 1), with_batch(8, 2));
  EXPECT_TRUE(Tells(found.cautions(), "different batch size: 4 samples per step before, 8 after"));
  bool told = false;
  for (const proto::SettingChange& setting : found.settings())
    told |= setting.name() == "batch_size" && setting.before() == "4" && setting.after() == "8";
  EXPECT_TRUE(told);
}

TEST(CompareRunsTest, SettingsThatChangeNothingAreLeftOut) {
  traceinject::Run before = RunOf(Plan()), after = RunOf(Plan(), 2);
  before.ranks[0].facts = {{"env", "NCCL_P2P_DISABLE", "1", ""}, {"env", "MASTER_PORT", "1", ""}};
  after.ranks[0].facts = {{"env", "MASTER_PORT", "2", ""}, {"gpu", "1.ecc", "on", ""}};
  const Comparison found = Compare(before, after);
  ASSERT_EQ(found.settings_size(), 1);
  EXPECT_EQ(found.settings(0).kind(), "environment");
  EXPECT_EQ(found.settings(0).name(), "NCCL_P2P_DISABLE");
  EXPECT_EQ(found.settings(0).before(), "1");
  EXPECT_EQ(found.settings(0).after(), "");
}

TEST(CompareRunsTest, WhatCannotBeComparedIsSaid) {
  TrainingPlan few = Plan();
  few.steps = 2;
  const Comparison found = Compare(RunOf(Plan()), RunOf(few, 2));
  EXPECT_EQ(found.outcome(), "unknown");
  EXPECT_FALSE(found.has_step_ns());
  EXPECT_TRUE(Says(found.conclusion(), "--step-regex"));
  EXPECT_TRUE(Says(TextOf(found), "unknown"));
  const traceinject::Run empty;
  EXPECT_EQ(Compare(empty, empty).outcome(), "unknown");
}

TEST(CompareRunsTest, NamesOfRecordingsAreMadePrintable) {
  TrainingPlan plan = Plan();
  plan.layer.push_back({"evil\033[31m\xFF kernel", 200'000});
  traceinject::Run before = RunOf(Plan()), after = RunOf(plan, 2);
  after.ranks[0].process.command_line = "train\n\033[2J\x9F";
  const Comparison found = Compare(before, after);
  EXPECT_FALSE(Says(TextOf(found), "\033"));
  EXPECT_FALSE(Says(TextOf(found), "\xFF"));
  const auto json = WriteJson(found);
  ASSERT_TRUE(json.ok()) << json.error();
  EXPECT_TRUE(Says(json.value(), "\"outcome\": \"slower\""));
}

}  // namespace
}  // namespace traceinject
