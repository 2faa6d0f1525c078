// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/data_loading.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

void AddBatch(RankBuilder& builder, TimeNs start, TimeNs end, std::int64_t samples,
              std::uint32_t loader = 0) {
  builder.AddDataWait(start, end, loader, 0, samples);
  builder.rank().data_waits.batch.back() = 0;
}

void AddWorkerSample(RankBuilder& builder, TimeNs time, std::uint32_t worker, std::int64_t cpu_ns,
                     int states, int states_disk) {
  WorkerSamples& samples = builder.rank().worker_samples;
  samples.time.push_back(time);
  samples.worker.push_back(worker);
  samples.cpu_ns.push_back(cpu_ns);
  samples.read_bytes.push_back(-1);
  samples.states.push_back(states);
  samples.states_disk.push_back(states_disk);
}

Steps ThreeSteps() {
  Steps steps;
  steps.start_ns = 100;
  for (const TimeNs start : {100, 200, 300}) {
    Step step;
    step.time = {start, start + 100};
    steps.steps.push_back(step);
  }
  return steps;
}

TEST(DataLoadingTest, WaitsOfStepsAreCutAtTheirEnds) {
  RankBuilder builder;
  AddBatch(builder, 50, 120, 8);   // begins before the steps, comes in the first
  AddBatch(builder, 180, 310, 8);  // over three steps
  AddBatch(builder, 350, 360, -1);
  const auto waits = WaitsInSteps(builder.rank(), ThreeSteps());
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0].waits, 1);
  EXPECT_EQ(waits[0].wait_ns, 40);
  EXPECT_EQ(waits[0].samples, 8);
  EXPECT_EQ(waits[1].waits, 0);
  EXPECT_EQ(waits[1].wait_ns, 100);
  EXPECT_EQ(waits[1].samples, std::nullopt);
  EXPECT_EQ(waits[2].waits, 1);
  EXPECT_EQ(waits[2].wait_ns, 20);
  EXPECT_EQ(waits[2].samples, std::nullopt);  // of one batch it is not known
}

TEST(DataLoadingTest, LoadersAndTheirWorkers) {
  RankBuilder builder;
  Rank& rank = builder.rank();
  rank.loaders.resize(2);
  rank.workers = {{71, 0, 0, kOpen}, {72, 0, 0, 90}, {73, kNone, 0, kOpen}};
  AddBatch(builder, 90, 130, 4);
  AddBatch(builder, 150, 160, 5);
  AddBatch(builder, 170, 175, 6, 1);
  AddWorkerSample(builder, 40, 0, 1, 4, 5);
  AddWorkerSample(builder, 80, 0, 5, 4, 4);  // the last one before the window
  AddWorkerSample(builder, 110, 0, 20, 4, 3);
  AddWorkerSample(builder, 150, 0, 40, 4, 1);
  AddWorkerSample(builder, 210, 0, 80, 6, 2);
  AddWorkerSample(builder, 250, 0, 99, 6, 5);
  const auto uses = UseOfLoaders(rank, {100, 200});
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_EQ(uses[0].loader, 0u);
  EXPECT_EQ(uses[0].waits, 2);
  EXPECT_EQ(uses[0].wait_ns, 40);
  EXPECT_EQ(uses[0].longest_ns, 30);
  EXPECT_EQ(uses[0].samples, 9);
  ASSERT_EQ(uses[0].workers.size(), 1u);  // the other one had ended
  EXPECT_EQ(uses[0].workers[0].observed_ns, 130);
  EXPECT_EQ(uses[0].workers[0].cpu_ns, 75);
  EXPECT_EQ(uses[0].workers[0].looks, 14);
  EXPECT_EQ(uses[0].workers[0].looks_disk, 6);
  EXPECT_EQ(uses[0].workers[0].read_bytes, std::nullopt);
  EXPECT_EQ(uses[1].loader, 1u);
  EXPECT_EQ(uses[1].samples, 6);
  EXPECT_EQ(uses[2].loader, kNone);
  EXPECT_EQ(uses[2].waits, 0);
  ASSERT_EQ(uses[2].workers.size(), 1u);
  EXPECT_EQ(uses[2].workers[0].observed_ns, 0);
}

}  // namespace
}  // namespace traceinject
