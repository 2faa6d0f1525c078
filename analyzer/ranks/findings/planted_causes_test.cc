// SPDX-License-Identifier: Apache-2.0
// What was planted in a simulated job is named, first and with its size, and nothing is in a
// healthy one: over many seeds, with clocks that are seconds apart and drift, and with records
// missing. TRACEINJECT_SEEDS in the environment: how many seeds (default below).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/testing/seeds.h"
#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

constexpr int kSeeds8 = 100, kSeeds64 = 30;

// What is wrong with the message; empty: nothing.
using Judge = std::function<std::string(const proto::Ranks&, const SimulatedJob&, std::uint64_t)>;

void CheckSeeds(const JobPlan& plan, int seeds, const Judge& judge) {
  int failed = 0;
  std::string said;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto chance = static_cast<std::uint64_t>(seed);
    const SimulatedJob simulated = SimulateJob(plan, chance);
    const proto::Ranks ranks = AnalyzeJob(simulated.job);
    std::string wrong = judge(ranks, simulated, chance);
    if (wrong.empty()) continue;
    ++failed;
    said += fmt::format("seed {}: {}\n", seed, wrong);
    for (const proto::RankFinding& finding : ranks.findings())
      said += fmt::format("  {}: {}\n", finding.name(), finding.text());
  }
  EXPECT_LE(failed, MayFail(seeds)) << said;
}

std::string Nothing(const proto::Ranks& ranks, const SimulatedJob&, std::uint64_t) {
  return ranks.findings_size() == 0 ? "" : "something is named";
}

// The first finding has this name, the saving of `healthy` within a tenth, and names the rank.
Judge First(const std::string& name, const JobPlan& healthy, int rank = -1) {
  return [=](const proto::Ranks& ranks, const SimulatedJob& simulated,
             std::uint64_t seed) -> std::string {
    if (ranks.findings_size() == 0) return "nothing is named";
    const proto::RankFinding& first = ranks.findings(0);
    if (first.name() != name) return "something else is first";
    if (ranks.findings_size() > 1) return "something else is named, too";
    if (rank >= 0 && (first.rows_size() != 1 || ranks.ranks(first.rows(0)).rank() != rank))
      return "another rank is named";
    const double truth = simulated.truth.step_ns() - SimulateJob(healthy, seed).truth.step_ns();
    const auto saved = static_cast<double>(first.saved_ns());
    if (std::abs(saved - truth) > 0.1 * truth)
      return fmt::format("saves {:.3f} ms, truly {:.3f} ms", saved / 1e6, truth / 1e6);
    return "";
  };
}

// And says first that kernels are so.
Judge Naming(const std::string& kind, const Judge& judge) {
  return [=](const proto::Ranks& ranks, const SimulatedJob& simulated,
             std::uint64_t seed) -> std::string {
    if (std::string wrong = judge(ranks, simulated, seed); !wrong.empty()) return wrong;
    const proto::RankFinding& first = ranks.findings(0);
    if (first.differences_size() == 0) return "no kernel is named";
    if (first.differences(0).kind() != kind) return "it is named as " + first.differences(0).kind();
    return first.evidence(0) == first.differences(0).text() ? "" : "other evidence comes first";
  };
}

JobPlan Ranks8() { return Disturbed({}); }

JobPlan Ranks64() {
  JobPlan plan;
  plan.data = 64;
  return Disturbed(plan);
}

JobPlan Sharded8() {
  JobPlan plan = Ranks8();
  plan.sharded = true;
  return plan;
}

JobPlan TensorAndData(int tensor, int data) {
  JobPlan plan;
  plan.tensor = tensor;
  plan.data = data;
  return Disturbed(plan);
}

JobPlan Pipeline(int data, int stages) {
  JobPlan plan;
  plan.data = data;
  plan.pipeline = stages;
  plan.micro_batches = 16 * (stages - 1);
  plan.steps = 12;
  return Disturbed(plan);
}

TEST(PlantedCausesTest, HealthyJobs) {
  CheckSeeds(Ranks8(), SeedsOr(kSeeds8), Nothing);
  CheckSeeds(Sharded8(), SeedsOr(kSeeds8), Nothing);
  CheckSeeds(TensorAndData(2, 4), SeedsOr(kSeeds8), Nothing);
}

TEST(PlantedCausesTest, HealthyPipelines) { CheckSeeds(Pipeline(2, 4), SeedsOr(20), Nothing); }

TEST(PlantedCausesTest, HealthyJobsOf64Ranks) {
  CheckSeeds(Ranks64(), SeedsOr(kSeeds64), Nothing);
  CheckSeeds(TensorAndData(8, 8), SeedsOr(kSeeds64), Nothing);
}

TEST(PlantedCausesTest, ASlowGpu) {
  JobPlan plan = Ranks8();
  plan.straggler = 3;
  plan.slow_compute = 1.1;
  CheckSeeds(plan, SeedsOr(kSeeds8), Naming("slower", First("straggler", Healthy(plan), 3)));
}

TEST(PlantedCausesTest, ASlowGpuOfShardedRanks) {
  JobPlan plan = Sharded8();
  plan.straggler = 5;
  plan.slow_compute = 1.2;
  CheckSeeds(plan, SeedsOr(kSeeds8), First("straggler", Healthy(plan), 5));
}

TEST(PlantedCausesTest, ARankWithMoreWork) {
  JobPlan plan = TensorAndData(2, 4);
  plan.straggler = 6;
  plan.more_work = 1.15;
  CheckSeeds(plan, SeedsOr(kSeeds8), Naming("more", First("straggler", Healthy(plan), 6)));
}

TEST(PlantedCausesTest, ARankThatWaitsForData) {
  JobPlan plan = Ranks8();
  plan.straggler = 0;
  plan.data_wait_ns = 3'000'000;
  CheckSeeds(plan, SeedsOr(kSeeds8), First("straggler", Healthy(plan), 0));
}

TEST(PlantedCausesTest, OneOf64Ranks) {
  JobPlan plan = Ranks64();
  plan.straggler = 41;
  plan.slow_compute = 1.1;
  CheckSeeds(plan, SeedsOr(kSeeds64), First("straggler", Healthy(plan), 41));
}

TEST(PlantedCausesTest, ARankOfAPipeline) {
  JobPlan plan = Pipeline(2, 4);
  plan.straggler = 5;
  plan.slow_compute = 1.2;
  CheckSeeds(plan, SeedsOr(20), First("straggler", Healthy(plan), 5));
}

// Throttled for 20 steps of 150; the cost is small, so that a tenth of it is not asked for.
Judge OneSpell(int rank, int from_step, int to_step) {
  return [=](const proto::Ranks& ranks, const SimulatedJob&, std::uint64_t) -> std::string {
    if (ranks.findings_size() != 1) return "not one finding";
    const proto::RankFinding& found = ranks.findings(0);
    if (found.name() != "slow_spell") return "something else is named";
    if (found.rows_size() != 1 || ranks.ranks(found.rows(0)).rank() != rank)
      return "another rank is named";
    return found.from_step() == from_step && found.to_step() == to_step - 1 ? "" : "another time";
  };
}

TEST(PlantedCausesTest, ARankThatIsSlowForAWhile) {
  JobPlan plan = Ranks8();
  plan.steps = 150;
  plan.slow_spells = {{5, 100, 120, 1.31}};
  CheckSeeds(plan, SeedsOr(kSeeds8), OneSpell(5, 100, 120));
}

TEST(PlantedCausesTest, AShortSpellOfOneOf64Ranks) {
  JobPlan plan = Ranks64();
  plan.steps = 60;
  plan.slow_spells = {{41, 30, 42, 1.2}};
  CheckSeeds(plan, SeedsOr(kSeeds64), OneSpell(41, 30, 42));
}

TEST(PlantedCausesTest, SpellsInJobsOfOtherLayouts) {
  for (JobPlan plan : {Sharded8(), TensorAndData(2, 4), TensorAndData(1, 2), Pipeline(4, 2)}) {
    plan.steps = 60;
    plan.slow_spells = {{1, 25, 45, 1.25}};
    CheckSeeds(plan, SeedsOr(20), OneSpell(1, 25, 45));
  }
}

TEST(PlantedCausesTest, HealthyLongJobs) {
  JobPlan plan = Ranks8();
  plan.steps = 150;
  CheckSeeds(plan, SeedsOr(kSeeds8), Nothing);
  plan.noise = 0.1;
  CheckSeeds(plan, SeedsOr(kSeeds8),
             [](const proto::Ranks& ranks, const SimulatedJob&, std::uint64_t) -> std::string {
               for (const proto::RankFinding& found : ranks.findings()) {
                 if (found.name() == "slow_spell") return "noise is named";
               }
               return "";
             });
}

// Evenly shared, the work that was planted is still there: every replica has its part of it.
TEST(PlantedCausesTest, UnevenWork) {
  JobPlan plan = Ranks8();
  plan.imbalance = 0.3;
  JobPlan even = Healthy(plan);
  even.forward_ns = std::llround(static_cast<double>(even.forward_ns) * (1 + 0.3 / 8));
  CheckSeeds(plan, SeedsOr(kSeeds8), First("imbalance", even));
}

// A host that needs all of the step would not gain from even work, unless it is recording that it
// needs the time for.
TEST(PlantedCausesTest, UnevenWorkBeforeBusyHosts) {
  JobPlan plan = Ranks8();
  plan.imbalance = 0.3;
  SimulatedJob simulated = SimulateJob(plan, 1);
  for (RankSummary& rank : simulated.job.ranks)
    rank.host_step_ns = std::llround(simulated.truth.step_ns());
  EXPECT_EQ(AnalyzeJob(simulated.job).findings_size(), 0);
  for (RankSummary& rank : simulated.job.ranks) rank.recording_step_ns = rank.host_step_ns / 2;
  JobPlan even = Healthy(plan);
  even.forward_ns = std::llround(static_cast<double>(even.forward_ns) * (1 + 0.3 / 8));
  EXPECT_EQ(First("imbalance", even)(AnalyzeJob(simulated.job), simulated, 1), "");
}

TEST(PlantedCausesTest, ASlowLinkOfARank) {
  JobPlan plan = TensorAndData(2, 4);
  plan.slow_link.rank = 3;
  plan.slow_link.factor = 4;
  CheckSeeds(plan, SeedsOr(kSeeds8), First("slow_link", Healthy(plan), 3));
}

TEST(PlantedCausesTest, ASlowStage) {
  JobPlan plan = Pipeline(2, 4);
  plan.stage_work = {1, 1, 1.3, 1};
  JobPlan even = Healthy(plan);
  even.forward_ns = std::llround(static_cast<double>(even.forward_ns) * (1 + 0.3 / 4));
  CheckSeeds(plan, SeedsOr(20), First("pipeline_stages", even));
}

TEST(PlantedCausesTest, TooFewMicroBatches) {
  JobPlan plan = Pipeline(2, 4);
  plan.micro_batches = 4;
  CheckSeeds(plan, SeedsOr(20),
             [](const proto::Ranks& ranks, const SimulatedJob&, std::uint64_t) -> std::string {
               if (ranks.findings_size() != 1) return "not one finding";
               return ranks.findings(0).name() == "pipeline_bubble" ? "" : "something else";
             });
}

// What more micro-batches would save is a formula, and may be more than even stages save; those are
// asked first. Half of the bubbles that even stages leave is the most that it promises.
TEST(PlantedCausesTest, UnevenStagesBeforeTooFewMicroBatches) {
  JobPlan plan = Pipeline(2, 4);
  plan.micro_batches = 4;
  plan.stage_work = {1, 1, 1.4, 1};
  CheckSeeds(plan, SeedsOr(20),
             [](const proto::Ranks& ranks, const SimulatedJob&, std::uint64_t) -> std::string {
               if (ranks.findings_size() != 2) return "not two findings";
               const proto::RankFinding &stages = ranks.findings(0), &bubble = ranks.findings(1);
               if (stages.name() != "pipeline_stages") return "the stages are not first";
               if (bubble.name() != "pipeline_bubble") return "the bubble is not second";
               const double bubbles =
                   ranks.pipeline().bubble_share() * static_cast<double>(ranks.step_ns()) -
                   static_cast<double>(stages.saved_ns());
               return static_cast<double>(bubble.saved_ns()) <= bubbles / 2 + 1
                          ? ""
                          : "more than there are bubbles";
             });
}

// In each step one of four replicas has half again as much to do: only three of four steps, and no
// rank alone, show it in a pipeline's stage.
TEST(PlantedCausesTest, UnevenWorkOfPipelines) {
  JobPlan plan = Pipeline(4, 2);
  plan.steps = 24;
  plan.imbalance = 0.5;
  JobPlan even = Healthy(plan);
  even.forward_ns = std::llround(static_cast<double>(even.forward_ns) * (1 + 0.5 / 4));
  CheckSeeds(plan, SeedsOr(20), First("imbalance", even));
}

// The rank that died is named, with the operation that the others stand in.
TEST(PlantedCausesTest, ARankThatDied) {
  JobPlan plan = Ranks8();
  plan.dead = 5;
  plan.dead_step = 20;
  for (const bool told : {false, true}) {
    plan.tell_sequences = told;
    CheckSeeds(plan, SeedsOr(kSeeds8),
               [](const proto::Ranks& ranks, const SimulatedJob&, std::uint64_t) -> std::string {
                 if (ranks.findings_size() == 0) return "nothing is named";
                 const proto::RankFinding& first = ranks.findings(0);
                 if (first.name() != "hang") return "something else is first";
                 if (!first.text().starts_with("ranks 0-4, 6-7 hang in AllReduce"))
                   return "it does not say who stands where";
                 return first.text().ends_with("; rank 5 never entered it.")
                            ? ""
                            : "who never entered it?";
               });
  }
}

TEST(PlantedCausesTest, AStageThatDied) {
  JobPlan plan = Pipeline(2, 4);
  plan.dead = 5;
  plan.dead_step = 8;
  CheckSeeds(plan, SeedsOr(20),
             [](const proto::Ranks& ranks, const SimulatedJob&, std::uint64_t) -> std::string {
               for (const proto::RankFinding& finding : ranks.findings()) {
                 if (finding.name() == "hang" &&
                     finding.text().find("rank 5 never entered it") != std::string::npos)
                   return "";
               }
               return "nobody says that rank 5 is missing";
             });
}

TEST(PlantedCausesTest, UnevenWorkOf64Ranks) {
  JobPlan plan = Ranks64();
  plan.imbalance = 0.3;
  JobPlan even = Healthy(plan);
  even.forward_ns = std::llround(static_cast<double>(even.forward_ns) * (1 + 0.3 / 64));
  CheckSeeds(plan, SeedsOr(kSeeds64), First("imbalance", even));
}

TEST(PlantedCausesTest, ASlowLinkAmong64Ranks) {
  JobPlan plan = TensorAndData(8, 8);
  plan.slow_link.rank = 27;
  plan.slow_link.factor = 3;
  CheckSeeds(plan, SeedsOr(kSeeds64), First("slow_link", Healthy(plan), 27));
}

TEST(PlantedCausesTest, ASlowStageOf64Ranks) {
  JobPlan plan = Pipeline(16, 4);
  plan.stage_work = {1, 1.25, 1, 1};
  JobPlan even = Healthy(plan);
  even.forward_ns = std::llround(static_cast<double>(even.forward_ns) * (1 + 0.25 / 4));
  CheckSeeds(plan, SeedsOr(10), First("pipeline_stages", even));
}

}  // namespace
}  // namespace traceinject
