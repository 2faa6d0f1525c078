// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/known_runs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

class KnownRunsTest : public testing::Test {
 protected:
  KnownRunsTest() {
    std::ofstream(file_) << "recording";
    run_.set_program("train.py");
    KnownRuns(kept_, "asked").Keep({file_}, run_);
  }
  bool IsKnown(const std::string& asked = "asked") const {
    const auto found = KnownRuns(kept_, asked).Find({file_});
    return found && found->program() == "train.py";
  }

  TemporaryFolder folder_;
  const std::string kept_ = folder_ / "cache/trend", file_ = folder_ / "run.db";
  proto::TrendRun run_;
};

TEST_F(KnownRunsTest, AreFoundAsLongAsTheirFilesAreTheSame) {
  EXPECT_TRUE(IsKnown());
  EXPECT_FALSE(IsKnown("something else"));
  const auto before = fs::last_write_time(file_);
  fs::last_write_time(file_, before + std::chrono::seconds(1));
  EXPECT_FALSE(IsKnown()) << "written since";
  fs::last_write_time(file_, before);
  EXPECT_TRUE(IsKnown());
  std::ofstream(file_ + "-wal") << "more";
  EXPECT_FALSE(IsKnown());
  fs::remove(file_ + "-wal");
  std::ofstream(file_, std::ios::app) << "more";
  fs::last_write_time(file_, before);
  EXPECT_FALSE(IsKnown()) << "longer";
}

TEST_F(KnownRunsTest, TakeTheirOwnPlaceOnly) {
  run_.set_program("other.py");
  std::ofstream(folder_ / "other.db") << "recording";
  KnownRuns(kept_, "asked").Keep({folder_ / "other.db"}, run_);
  EXPECT_TRUE(IsKnown());
  EXPECT_EQ(std::distance(fs::directory_iterator(kept_), fs::directory_iterator()), 2);
}

TEST_F(KnownRunsTest, DamagedFilesAreNone) {
  for (const auto& entry : fs::directory_iterator(kept_)) std::ofstream(entry.path()) << "\xff\xff";
  EXPECT_FALSE(IsKnown());
}

TEST_F(KnownRunsTest, WithoutAFolderNothingIsKept) {
  KnownRuns nowhere("", "asked");
  nowhere.Keep({file_}, run_);
  EXPECT_FALSE(nowhere.Find({file_}));
}

}  // namespace
}  // namespace traceinject
