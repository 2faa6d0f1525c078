// SPDX-License-Identifier: Apache-2.0
// What was planted in a timeline of pipelines side by side is named first, and what is said of time
// is what a simulator that knows the truth (testing/timeline_job.h) finds by trying. Each seed
// draws a layout of its own. TRACEINJECT_SEEDS in the environment: how many (seeds.h); the figures
// are printed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/load/combine_job.h"
#include "analyzer/ranks/testing/seeds.h"
#include "analyzer/ranks/testing/simulated_chance.h"
#include "analyzer/ranks/testing/timeline_job.h"
#include "analyzer/ranks/timeline/read_timeline.h"
#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

constexpr int kUsualSeeds = 20;
// Of what truly comes back, and of the slowdown.
constexpr double kMayDiffer = 0.05;
// Of a step: what is planted costs as much.
constexpr double kWorthNaming = 0.04;

struct Layout {
  int data, stages;
};

// Of the seed.
class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : chance_(seed) {}
  int From(std::uint64_t what, int least, int most) const {
    return least + static_cast<int>(chance_.Uniform({what}) * (most - least + 1));
  }
  double Between(std::uint64_t what, double least, double most) const {
    return least + chance_.Uniform({what}) * (most - least);
  }

 private:
  Chance chance_;
};

TimelinePlan DrawPlan(const std::vector<Layout>& layouts, const Drawn& drawn) {
  TimelinePlan plan;
  const Layout& layout =
      layouts[static_cast<std::size_t>(drawn.From(1, 0, static_cast<int>(layouts.size()) - 1))];
  plan.data = layout.data;
  plan.stages = layout.stages;
  plan.micro_batches = 4 * drawn.From(2, 1, 4);
  plan.gpipe = drawn.From(3, 0, 1) == 1;
  plan.noise = drawn.Between(4, 0.01, 0.03);
  plan.most_offset_ns = 500'000'000;
  plan.ranks_per_host = drawn.From(5, 0, 1) == 1 ? 4 : 1;
  return plan;
}

struct Truth {
  std::string name;        // of the first finding; empty: there is none
  std::vector<int> ranks;  // that it is about; empty: they are not asked
  double saved_ns = 0;
};

struct Case {
  std::string name;
  std::function<TimelinePlan(const Drawn&, std::uint64_t seed)> plan;
  std::function<Truth(const TimelinePlan&, std::uint64_t seed)> truth;
};

double StepOf(const TimelinePlan& plan, const TimelineDurations& durations, std::uint64_t seed) {
  return PlayTimeline(plan, durations, seed, false).step_ns;
}
double StepOf(const TimelinePlan& plan, std::uint64_t seed) {
  return StepOf(plan, DrawDurations(plan, seed), seed);
}

proto::Ranks Analyze(const TimelinePlan& plan, std::uint64_t seed) {
  const TemporaryFolder folder;
  const std::string path = folder / "timeline.json";
  WriteText(path, WriteTimeline(plan, PlayTimeline(plan, DrawDurations(plan, seed), seed), seed));
  ReadProgress progress;
  auto job = CombineJob({{path, ReadTimeline(path, progress)}}, {});
  EXPECT_TRUE(job.ok()) << job.error();
  return job.ok() ? AnalyzeJob(job.value(), {.lost_time = false}) : proto::Ranks();
}

std::vector<int> RanksOf(const proto::Ranks& ranks, const proto::RankFinding& finding) {
  std::vector<int> named;
  for (const int row : finding.rows()) named.push_back(ranks.ranks(row).rank());
  return named;
}

// That the schedule has bubbles is true of all pipelines.
const proto::RankFinding* FirstOf(const proto::Ranks& ranks) {
  const bool any = ranks.findings_size() > 0 && ranks.findings(0).name() != "pipeline_bubble";
  return any ? &ranks.findings(0) : nullptr;
}

std::string WrongIn(const proto::Ranks& ranks, const Truth& truth) {
  const proto::RankFinding* const first = FirstOf(ranks);
  if (first == nullptr) return truth.name.empty() ? "" : "nothing is named";
  if (first->name() != truth.name) return "another cause is first";
  if (!truth.ranks.empty() && RanksOf(ranks, *first) != truth.ranks) return "of other ranks";
  return "";
}

// Errors of a figure over all seeds.
struct Errors {
  std::vector<double> of;
  double At(double share) {
    if (of.empty()) return 0;
    std::sort(of.begin(), of.end());
    return of[static_cast<std::size_t>(share * static_cast<double>(of.size() - 1))];
  }
  int Beyond(double most) const {
    return static_cast<int>(
        std::count_if(of.begin(), of.end(), [&](double error) { return error > most; }));
  }
};

void CheckCase(const Case& one) {
  const int seeds = SeedsOr(kUsualSeeds);
  int wrong = 0;
  Errors saved, slowdown;
  std::string said;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const TimelinePlan plan = one.plan(Drawn(number), number);
    const Truth truth = one.truth(plan, number);
    const proto::Ranks ranks = Analyze(plan, number);
    const TimelineDurations durations = DrawDurations(plan, number);
    const double step_ns = StepOf(plan, durations, number);
    const double true_slowdown =
        step_ns / StepOf(plan, Changed(durations, WhatIf::kEvenAll), number);
    slowdown.of.push_back(std::abs(ranks.slowdown() / true_slowdown - 1));
    const std::string mistake = WrongIn(ranks, truth);
    wrong += mistake.empty() ? 0 : 1;
    double saved_error = 0;
    if (mistake.empty() && !truth.name.empty()) {
      const auto found = static_cast<double>(ranks.findings(0).saved_ns());
      saved_error = std::abs(found / truth.saved_ns - 1);
      saved.of.push_back(saved_error);
    }
    if (mistake.empty() && saved_error <= kMayDiffer && slowdown.of.back() <= kMayDiffer) continue;
    said += fmt::format(
        "seed {}: {} x {} ranks, {} micro-batches{}: {}; S {:.4f}, truly {:.4f}; saves {:.3f} of "
        "{:.3f} ms, error {:.1f} %; replay error {:.4f}\n",
        seed, plan.data, plan.stages, plan.micro_batches, plan.gpipe ? ", GPipe" : "", mistake,
        ranks.slowdown(), true_slowdown, truth.saved_ns / 1e6, step_ns / 1e6, 100 * saved_error,
        ranks.replay_error());
    for (const proto::RankFinding& finding : ranks.findings())
      said += fmt::format("  {}: {}\n", finding.name(), finding.text());
  }
  fmt::print(
      "{}: first cause right in {} of {}; error of the saving: median {:.2f} %, largest {:.2f} %; "
      "of S: median {:.2f} %, largest {:.2f} %\n",
      one.name, seeds - wrong, seeds, 100 * saved.At(0.5), 100 * saved.At(1),
      100 * slowdown.At(0.5), 100 * slowdown.At(1));
  EXPECT_LE(wrong, MayFail(seeds)) << said;
  EXPECT_LE(saved.Beyond(kMayDiffer), MayFail(seeds)) << said;
  EXPECT_LE(slowdown.Beyond(kMayDiffer), MayFail(seeds)) << said;
}

// The same job without what was planted; stages take their mean.
TimelinePlan Healthy(TimelinePlan plan) {
  plan.slow_factor = plan.link_factor = 1;
  double sum = 0;
  for (const double work : plan.stage_work) sum += work;
  plan.stage_work.assign(plan.stage_work.size(), sum / plan.stages);
  return plan;
}

double TrulySaved(const TimelinePlan& plan, std::uint64_t seed) {
  return StepOf(plan, seed) - StepOf(Healthy(plan), seed);
}

bool IsWorthNaming(const TimelinePlan& plan, std::uint64_t seed) {
  return TrulySaved(plan, seed) >= kWorthNaming * StepOf(plan, seed);
}

std::vector<int> RanksOfStage(const TimelinePlan& plan, int stage) {
  std::vector<int> ranks;
  for (int i = 0; i < plan.data; ++i) ranks.push_back(stage * plan.data + i);
  return ranks;
}

TEST(TimelineCausesTest, Clean) {
  const auto plan = [](const Drawn& drawn, std::uint64_t) {
    return DrawPlan({{8, 1}, {4, 2}, {2, 4}, {4, 4}, {8, 4}, {1, 8}, {3, 3}}, drawn);
  };
  CheckCase({"clean", plan, [](const TimelinePlan&, std::uint64_t) { return Truth(); }});
}

TEST(TimelineCausesTest, ASlowWorker) {
  const auto plan = [](const Drawn& drawn, std::uint64_t) {
    TimelinePlan drawn_plan = DrawPlan({{8, 1}, {4, 2}, {2, 4}, {4, 4}, {8, 4}, {3, 3}}, drawn);
    drawn_plan.slow_rank = drawn.From(10, 0, drawn_plan.ranks() - 1);
    drawn_plan.slow_factor = drawn.Between(11, 1.2, 2);
    return drawn_plan;
  };
  CheckCase({"slow worker", plan, [](const TimelinePlan& slow, std::uint64_t seed) {
               return Truth{"straggler", {slow.slow_rank}, TrulySaved(slow, seed)};
             }});
}

TEST(TimelineCausesTest, ASlowStage) {
  const auto plan = [](const Drawn& drawn, std::uint64_t seed) {
    TimelinePlan drawn_plan = DrawPlan({{4, 2}, {2, 4}, {4, 4}, {1, 8}, {3, 3}}, drawn);
    drawn_plan.slow_stage = drawn.From(10, 0, drawn_plan.stages - 1);
    drawn_plan.stage_work.assign(static_cast<std::size_t>(drawn_plan.stages), 1);
    double& work = drawn_plan.stage_work[static_cast<std::size_t>(drawn_plan.slow_stage)];
    work = drawn.Between(11, 1.2, 2);
    while (!IsWorthNaming(drawn_plan, seed)) work *= 1.2;
    return drawn_plan;
  };
  CheckCase({"slow stage", plan, [](const TimelinePlan& slow, std::uint64_t seed) {
               return Truth{"pipeline_stages", RanksOfStage(slow, slow.slow_stage),
                            TrulySaved(slow, seed)};
             }});
}

TEST(TimelineCausesTest, SequenceLengths) {
  const auto plan = [](const Drawn& drawn, std::uint64_t) {
    TimelinePlan drawn_plan =
        DrawPlan({{8, 1}, {4, 2}, {2, 4}, {4, 4}, {8, 4}, {1, 8}, {3, 3}}, drawn);
    drawn_plan.length_spread = drawn.Between(10, 0.4, 0.8);
    return drawn_plan;
  };
  CheckCase({"sequence lengths", plan, [](const TimelinePlan& uneven, std::uint64_t seed) {
               const TimelineDurations durations = DrawDurations(uneven, seed);
               const TimelineDurations even = Changed(durations, WhatIf::kEvenMicroBatches);
               return Truth{
                   "imbalance", {}, StepOf(uneven, durations, seed) - StepOf(uneven, even, seed)};
             }});
}

TEST(TimelineCausesTest, ASlowLink) {
  const auto plan = [](const Drawn& drawn, std::uint64_t seed) {
    TimelinePlan drawn_plan = DrawPlan({{4, 2}, {2, 4}, {4, 4}, {8, 4}, {3, 3}}, drawn);
    drawn_plan.slow_reduce = drawn.From(9, 0, 1) == 1;
    drawn_plan.ranks_per_host = 1;  // or hosts are named
    // The last stage sends to none.
    drawn_plan.slow_link = drawn.From(10, 0, drawn_plan.data * (drawn_plan.stages - 1) - 1);
    drawn_plan.link_factor = drawn.Between(11, 4, 12);
    // Much of what moves hides behind other work.
    while (!IsWorthNaming(drawn_plan, seed)) drawn_plan.link_factor *= 2;
    return drawn_plan;
  };
  CheckCase({"slow link", plan, [](const TimelinePlan& slow, std::uint64_t seed) {
               const std::vector<int> ends{slow.slow_link, slow.slow_link + slow.data};
               return Truth{
                   "slow_link",
                   slow.slow_reduce ? RanksOfStage(slow, slow.Stage(slow.slow_link)) : ends,
                   TrulySaved(slow, seed)};
             }});
}

}  // namespace
}  // namespace traceinject
