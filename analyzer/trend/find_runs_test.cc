// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/find_runs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

class FindRunsTest : public testing::Test {
 protected:
  void Make(const std::string& path) {
    fs::create_directories(fs::path(folder_ / path).parent_path());
    std::ofstream(folder_ / path) << "x";
  }
  std::vector<FoundRun> Find(const std::vector<std::string>& paths) {
    auto found = FindRuns(paths);
    EXPECT_TRUE(found.ok()) << found.error();
    return found.ok() ? std::move(found).value() : std::vector<FoundRun>();
  }
  TemporaryFolder folder_;
};

TEST_F(FindRunsTest, RanksAndFoldersAreOneRun) {
  Make("b.rank00000.db");
  Make("b.rank00001.db.zst");
  Make("a.db");
  Make("nightly/2/x.db");
  Make("nightly/2/y.db");
  Make("nightly/readme.txt");
  Make(".hidden/z.db");
  const std::vector<FoundRun> runs = Find({folder_.path().string()});
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].name, "a.db");
  EXPECT_EQ(runs[1].name, "b.db");
  EXPECT_EQ(runs[1].files.size(), 2U);
  EXPECT_EQ(runs[2].name, "nightly/2");
  EXPECT_EQ(runs[2].files.size(), 2U);
}

TEST_F(FindRunsTest, PathsThatAreNamedAreRuns) {
  Make("a.db");
  Make("b.rank00000.db");
  Make("c.db");
  const std::vector<FoundRun> runs = Find({folder_ / "a.db", folder_ / "b.db", folder_ / "a.db"});
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].name, folder_ / "a.db");
  EXPECT_EQ(runs[1].files, std::vector<std::string>{folder_ / "b.rank00000.db"});
}

TEST_F(FindRunsTest, TracesWhereThereAreNoRecordings) {
  Make("one.json.gz");
  Make("two.json");
  EXPECT_EQ(Find({folder_.path().string()}).size(), 2U);
  Make("run.db");
  EXPECT_EQ(Find({folder_.path().string()}).size(), 1U);
}

TEST_F(FindRunsTest, NothingIsAnError) {
  const auto empty = FindRuns({folder_.path().string()});
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.error().find("no recordings in this folder or below it"), std::string::npos);
  EXPECT_FALSE(FindRuns({folder_ / "none.db"}).ok());
}

}  // namespace
}  // namespace traceinject
