// SPDX-License-Identifier: Apache-2.0
// Steps of real programs, found with everything hidden that the programs said of them: as many, and
// as long, as with it. The public traces lie beside the source tree, not in it; without them their
// tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "analyzer/import/load/load_run.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/metrics/steps/window.h"

namespace traceinject {
namespace {

using Loaded = Run;

struct StepTrace {
  const char* path;
  std::size_t steps;  // annotations, or optimizer steps; 0: none, and nothing that could be one
};

const StepTrace kPublicTraces[] = {
    {"kineto_resnet50/nw0_a.json.gz", 6},     {"kineto_resnet50/nw0_b.json.gz", 6},
    {"kineto_resnet50/nw4_a.json.gz", 6},     {"kineto_resnet50/nw4_b.json.gz", 6},
    {"hta_nccl/nccl_data.json.gz", 3},        {"hta_df_index/df_index_resolver.json.gz", 5},
    {"param/linear_kineto.json.gz", 40},      {"param/resnet_kineto.json.gz", 30},
    {"hta_micro/alexnet.json.gz", 0},         {"hta_micro/simple_add.json.gz", 0},
    {"hta_micro/cuda_event_sync.json.gz", 0}, {"hta_micro/cuda_event_sync_multi_stream.json.gz", 0},
};

const StepTrace kOwnRecordings[] = {
    {"ddp_h200/run.rank00000.db.zst", 37}, {"ddp_h200/run.rank00001.db.zst", 37},
    {"slow_loader_h200.db.zst", 66},       {"slow_loader_fixed_h200.db.zst", 66},
    {"transformer_h200.db.zst", 42},
};

Steps StepsOf(const Rank& rank) {
  for (const Device& device : rank.devices) {
    if (device.ops.size() > 0) return FindSteps(rank, device, *GpuSpan(device.ops));
  }
  return {};
}

void ExpectSameWhenHidden(const std::string& path, std::size_t count) {
  auto loaded = LoadRun({path}, {});
  ASSERT_TRUE(loaded.ok()) << loaded.error();
  Loaded run = std::move(loaded).value();
  ASSERT_EQ(run.ranks.size(), 1u);
  Rank& rank = run.ranks[0];
  const Steps told = StepsOf(rank);
  rank.nvtx = {};
  rank.step_marks = {};
  const Steps found = StepsOf(rank);
  if (count == 0) {
    EXPECT_EQ(found.source, StepSource::kWindow);
    return;
  }
  EXPECT_EQ(found.source, StepSource::kStructure);
  EXPECT_GE(found.confidence, 0.8);
  // The recording may have cut one.
  EXPECT_LE(found.steps.size(), count);
  EXPECT_GE(found.steps.size() + 1, count);
  const auto median = static_cast<double>(told.median_ns);
  EXPECT_NEAR(static_cast<double>(found.median_ns), median, 0.01 * median);
}

std::string NameOf(const testing::TestParamInfo<StepTrace>& trace) {
  // Without folder and the two extensions.
  std::string name = std::filesystem::path(trace.param.path).stem().stem().string();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class PublicStepsTest : public testing::TestWithParam<StepTrace> {};

TEST_P(PublicStepsTest, AreFoundWithoutAnnotations) {
  const std::string path = std::string(TRACEINJECT_PUBLIC_TRACES) + "/" + GetParam().path;
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "the public traces are not at " << TRACEINJECT_PUBLIC_TRACES;
  ExpectSameWhenHidden(path, GetParam().steps);
}

INSTANTIATE_TEST_SUITE_P(All, PublicStepsTest, testing::ValuesIn(kPublicTraces), NameOf);

class RecordedStepsTest : public testing::TestWithParam<StepTrace> {};

TEST_P(RecordedStepsTest, AreFoundWithoutMarks) {
  ExpectSameWhenHidden(std::string(TRACEINJECT_RECORDINGS) + "/" + GetParam().path,
                       GetParam().steps);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedStepsTest, testing::ValuesIn(kOwnRecordings), NameOf);

}  // namespace
}  // namespace traceinject
