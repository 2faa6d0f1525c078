// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/steps_so_far.h"

#include <gtest/gtest.h>

#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class StepsSoFarTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ / name; }
  static RunDbFixture Writer(const std::string& path) {
    return RunDbFixture(path, {.closed = false, .write_ahead = true});
  }
  static void Mark(RunDbFixture& file, int count, int optimizer = 1) {
    for (int i = 0; i < count; ++i)
      file.AddStepMark({.time_ns = now_ns_ += 1'000, .optimizer = optimizer});
    file.Execute("COMMIT; BEGIN");
  }
  static void AddRanges(RunDbFixture& file, const std::string& name, int first, int last) {
    for (int i = first; i < last; ++i)
      file.AddNvtx({.start_ns = now_ns_ += 1'000, .dur_ns = 900, .text = name + std::to_string(i)});
    file.Execute("COMMIT; BEGIN");
  }
  static inline TimeNs now_ns_ = 0;

  TemporaryFolder folder_;
  StepsSoFar steps_;
};

TEST_F(StepsSoFarTest, CountsMarksAsTheyCome) {
  RunDbFixture file = Writer(Path("run.db"));
  file.Execute("COMMIT; BEGIN");
  EXPECT_EQ(steps_.Count({Path("run.db")}), std::nullopt);
  Mark(file, 2);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 2);
  Mark(file, 40);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 42);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 42);
  // Two optimizers are one step.
  Mark(file, 30, 2);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 42);
  // Rows that were read are not needed again, and may be gone.
  file.Execute("DELETE FROM step_mark");
  Mark(file, 5);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 47);
}

TEST_F(StepsSoFarTest, CountsRangesThatNameSteps) {
  RunDbFixture file = Writer(Path("run.db"));
  AddRanges(file, "layer", 0, 50);
  EXPECT_EQ(steps_.Count({Path("run.db")}), std::nullopt);
  AddRanges(file, "step ", 0, 10);
  // The same numbers again, as in another epoch.
  AddRanges(file, "step ", 0, 10);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 20);
  file.AddNvtx({.start_ns = now_ns_, .dur_ns = 0, .text = "step 10", .kind = NvtxKind::kMark});
  file.Execute("COMMIT; BEGIN");
  EXPECT_EQ(steps_.Count({Path("run.db")}), 20);
  AddRanges(file, "ProfilerStep#", 0, 3);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 3);
  Mark(file, 3);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 3);
  Mark(file, 4);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 7);
}

// As the recorder stores them, at once and again when they have ended.
TEST_F(StepsSoFarTest, CountsRangesThatWereStoredWhileTheyWereOpen) {
  RunDbFixture file = Writer(Path("run.db"));
  AddRanges(file, "step ", 0, 5);
  file.Execute("UPDATE nvtx SET rowid = -1, dur = NULL WHERE rowid = 5");
  file.Execute("COMMIT; BEGIN");
  EXPECT_EQ(steps_.Count({Path("run.db")}), 4);
  file.Execute("UPDATE nvtx SET dur = 900 WHERE rowid = -1");
  AddRanges(file, "step ", 5, 8);
  EXPECT_EQ(steps_.Count({Path("run.db")}), 8);
  file.Execute("UPDATE nvtx SET rowid = -2 WHERE rowid = 7");
  file.Execute("COMMIT; BEGIN");
  EXPECT_EQ(StepsSoFar().Count({Path("run.db")}), 8);
}

TEST_F(StepsSoFarTest, OfSeveralProcessesTheOneThatIsBehind) {
  RunDbFixture ahead = Writer(Path("run.rank00000.db")), behind = Writer(Path("run.rank00001.db")),
               idle = Writer(Path("run.p7.db"));
  Mark(ahead, 12);
  Mark(behind, 10);
  idle.Execute("COMMIT; BEGIN");
  EXPECT_EQ(steps_.Count({Path("run.p7.db"), Path("run.rank00000.db"), Path("run.rank00001.db")}),
            10);
}

TEST_F(StepsSoFarTest, OfEndedRecordingsAllAreCounted) {
  RunDbFixture file(Path("run.db"), {});
  Mark(file, 30);
  file.Close();
  EXPECT_EQ(steps_.Count({Path("run.db")}), 30);
}

TEST_F(StepsSoFarTest, WhatIsNotThereIsNotCounted) {
  EXPECT_EQ(steps_.Count({}), std::nullopt);
  EXPECT_EQ(steps_.Count({Path("run.db")}), std::nullopt);
}

}  // namespace
}  // namespace traceinject
