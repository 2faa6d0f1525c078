// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_plan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "analyzer/merge/testing/job_files.h"
#include "analyzer/model/testing/units.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class MergePlanTest : public testing::Test {
 protected:
  std::string PathOf(int rank) { return folder_ / ("run.rank0000" + std::to_string(rank) + ".db"); }
  void Write(const RankFile& facts) { WriteRank(PathOf(facts.rank), facts).Close(); }
  MergePlan Plan() {
    auto plan = PlanMerge({folder_.path().string()}, {});
    EXPECT_TRUE(plan.ok()) << plan.error();
    return plan.ok() ? std::move(plan).value() : MergePlan();
  }
  static bool Says(const MergePlan& plan, const std::string& words) {
    for (const std::string& note : plan.notes) {
      if (note.find(words) != std::string::npos) return true;
    }
    return false;
  }
  TemporaryFolder folder_;
};

TEST_F(MergePlanTest, RanksOfOneHostKeepTheirClock) {
  Write({.rank = 0, .base_later_ns = 5'000});
  Write({.rank = 1, .base_later_ns = 2'000});
  const MergePlan plan = Plan();
  EXPECT_EQ(plan.run_id, "job-1");
  EXPECT_EQ(plan.base_ns, 1'700'000'000'000'002'000);
  ASSERT_EQ(plan.sources.size(), 2U);
  EXPECT_EQ(plan.sources[0].path, PathOf(0));
  EXPECT_EQ(plan.sources[0].clock.Of(0), 3'000);
  EXPECT_EQ(plan.sources[1].clock.Of(0), 0);
  EXPECT_FALSE(plan.sources[0].clock.fit.has_value());
  EXPECT_EQ(plan.sources[0].clock_shift, 0);
  EXPECT_TRUE(plan.notes.empty());
}

TEST_F(MergePlanTest, RanksOfTwoHostsGetOneClock) {
  const RankFile first{.rank = 0};
  const RankFile second{.rank = 1,
                        .host = "node-b",
                        .ahead_ns = 700 * kMs,
                        .drift = 2e-5,
                        .base_later_ns = 690 * kMs};
  Write(first);
  Write(second);
  const MergePlan plan = Plan();
  ASSERT_EQ(plan.sources.size(), 2U);
  for (const TimeNs time : {TimeNs{0}, 250 * kMs, 500 * kMs}) {
    const TimeNs a = plan.sources[0].clock.Of(AsShown(first, time)),
                 b = plan.sources[1].clock.Of(AsShown(second, time));
    EXPECT_LE(std::abs(a - b), 1'000);
  }
  EXPECT_NEAR(static_cast<double>(plan.sources[1].clock_shift), -700e6, 1e5);
  EXPECT_NEAR(plan.sources[1].clock_drift, -2e-5, 1e-6);
  EXPECT_TRUE(Says(plan, "clocks of 2 ranks aligned by their collectives: shifts up to 700.0 ms"));
}

TEST_F(MergePlanTest, ARankWhoseClockCannotBeAlignedIsLeftOutAndNamed) {
  Write({.rank = 0, .world_size = 3});
  Write({.rank = 1, .world_size = 3});
  Write({.rank = 2, .world_size = 3, .host = "node-b", .communicator = 0x2000});
  const MergePlan plan = Plan();
  ASSERT_EQ(plan.sources.size(), 2U);
  EXPECT_TRUE(Says(
      plan,
      "left out: the clock of rank 2 could not be aligned: shares no synchronizing collective"));
}

TEST_F(MergePlanTest, OtherAttemptsAndWhatIsNoRecordingOfOneProcessAreLeftOut) {
  Write({.rank = 0});
  WriteRank(folder_ / "old.rank00001.db", {.rank = 1, .run_id = "job-0", .ahead_ns = -900 * kMs})
      .Close();
  auto merged = WriteRank(folder_ / "merged.db", {.rank = 0});
  merged.Execute(
      "INSERT INTO process (proc, pid, host, rank, run_id, start) VALUES (2, 5, 'b', 1, 'job-1', "
      "0)");
  merged.Close();
  std::ofstream(folder_ / "empty.db").close();
  const MergePlan plan = Plan();
  ASSERT_EQ(plan.sources.size(), 1U);
  EXPECT_EQ(plan.sources[0].path, PathOf(0));
  EXPECT_TRUE(Says(plan, "only the newest attempt was read"));
  EXPECT_TRUE(Says(plan, "already a merged recording of 2 processes"));
  EXPECT_TRUE(Says(plan, "empty.db: the file is empty"));
}

// Its recording says why there is none.
TEST_F(MergePlanTest, ARankWithoutGpuWorkStays) {
  Write({.rank = 0});
  RunDbFixture idle(PathOf(1), {.rank = 1, .world_size = 2, .end_ns = 1});
  idle.AddHealth("start", "failed", 1, "no driver");
  idle.Close();
  RunDbFixture child(folder_ / "run.p77.db", {.pid = 77, .end_ns = 1});
  child.Close();
  const MergePlan plan = Plan();
  ASSERT_EQ(plan.sources.size(), 2U);
  EXPECT_EQ(plan.sources[1].path, PathOf(1));
}

TEST_F(MergePlanTest, NothingToMergeIsAnError) {
  RunDbFixture(PathOf(0), {.end_ns = 1}).Close();
  const auto plan = PlanMerge({folder_.path().string()}, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().find("no GPU work"), std::string::npos) << plan.error();
}

}  // namespace
}  // namespace traceinject
