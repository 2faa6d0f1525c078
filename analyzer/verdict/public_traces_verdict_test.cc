// SPDX-License-Identifier: Apache-2.0
// Verdicts on public traces of real GPUs whose bottleneck is known from elsewhere. They lie beside
// the source tree, not in it; without them these tests are skipped.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "analyzer/import/load/load_run.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

class PublicTraceVerdictTest : public testing::Test {
 protected:
  // Skips the test if the trace is not there.
  void Judge(const std::string& name) {
    const std::string path = std::string(TRACEINJECT_PUBLIC_TRACES) + "/" + name;
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << "the public traces are not at " << TRACEINJECT_PUBLIC_TRACES;
    auto run = LoadRun({path}, {});
    ASSERT_TRUE(run.ok()) << run.error();
    verdict_ = BuildReportWithVerdict(run.value(), {}).verdict();
    judged_ = true;
  }
  double new_step_ms() const { return static_cast<double>(verdict_.new_step_ns()) / 1e6; }

  proto::Verdict verdict_;
  bool judged_ = false;
};

// The same training with num_workers=4 took 126.548 and 125.087 ms a step (medians of nw4_a,
// nw4_b).
TEST_F(PublicTraceVerdictTest, ResnetWithoutWorkersWaitsForItsLoader) {
  constexpr double kFixedMs[] = {126.548, 125.087};
  const char* const names[] = {"kineto_resnet50/nw0_a.json.gz", "kineto_resnet50/nw0_b.json.gz"};
  for (int i = 0; i < 2; ++i) {
    Judge(names[i]);
    if (!judged_) return;
    EXPECT_EQ(verdict_.label(), "dataloader") << names[i];
    EXPECT_NEAR(new_step_ms(), kFixedMs[i], 0.05 * kFixedMs[i]) << names[i];
  }
}

TEST_F(PublicTraceVerdictTest, ResnetWithWorkersDoesNot) {
  for (const char* name : {"kineto_resnet50/nw4_a.json.gz", "kineto_resnet50/nw4_b.json.gz"}) {
    Judge(name);
    if (!judged_) return;
    EXPECT_NE(verdict_.label(), "dataloader") << name;
    EXPECT_EQ(verdict_.abstained(), "") << name;
  }
}

// Nothing but memory allocation, and no steps: told with little confidence.
TEST_F(PublicTraceVerdictTest, AlexnetAllocates) {
  Judge("hta_micro/alexnet.json.gz");
  if (!judged_) return;
  EXPECT_EQ(verdict_.label(), "allocator");
  EXPECT_LE(verdict_.confidence(), 0.5);
}

// Thousands of tiny kernels a step.
TEST_F(PublicTraceVerdictTest, RecurrentNetworkIsBoundByLaunches) {
  Judge("hta_df_index/df_index_resolver.json.gz");
  if (!judged_) return;
  EXPECT_EQ(verdict_.label(), "launch_bound");
}

}  // namespace
}  // namespace traceinject
