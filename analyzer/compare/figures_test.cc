// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyzer/report/formats/metric_table.h"
#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

TEST(FiguresTest, NamesAreUniqueAndExplained) {
  std::set<std::string_view> names;
  for (const Figure& figure : Figures()) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
    EXPECT_FALSE(figure.help.empty()) << figure.name;
    EXPECT_EQ(figure.of_step != nullptr, figure.noise == FigureNoise::kSteps) << figure.name;
  }
}

// Without irregular steps both are means of the same ones.
TEST(FiguresTest, OfStepsAreThoseThatAreExported) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  plan.upload_bytes = 30'000'000;
  plan.communication_ns = 2'000'000;
  const traceinject::Run run = RunOf(SimulatedTraining(plan).rank());
  const ComparedRun compared = PrepareRun(run, {});
  const auto exported = [&](std::string_view name) {
    const auto metric = std::find_if(Metrics().begin(), Metrics().end(),
                                     [&](const Metric& one) { return one.name == name; });
    return SamplesOf(*metric, {compared.report, {}}).at(0).value;
  };
  for (const auto& figure : {shared::kStep, shared::kComputeTime, shared::kExposedCommTime,
                             shared::kExposedCopyTime, shared::kIdleTime}) {
    const double ms = FindFigure(figure.key)->read(compared).value.value();
    EXPECT_GT(ms, 0) << figure.key;
    EXPECT_NEAR(exported(figure.metric) * 1e3, ms, 1e-9 * ms) << figure.key;
  }
  const double idle = FindFigure("data_wait_ms")->read(compared).value.value();
  EXPECT_GE(exported("step_data_wait_seconds") * 1e3, idle) << "the GPU may be busy, too";
}

}  // namespace
}  // namespace traceinject
