// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/live_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

using Paths = std::vector<std::string>;

class LivePathsTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const std::string& text = "") {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
  }
  // A file that nobody writes any more, and its note.
  std::string WriteSpooled(const std::string& target, const std::string& host = "node1") {
    const std::string name = "spool/" + target + "." + host + ".p7.1";
    Write(name);
    Write(target + "." + host + ".p7.1.spool", host + ":" + Path(name) + "\n");
    return Path(name);
  }
  Paths Find(const Paths& paths) { return FindLivePaths(paths).paths; }

  TemporaryFolder folder_;
};

TEST_F(LivePathsTest, WithoutASpoolTheNamesAreTheUsers) {
  EXPECT_EQ(Find({"none.db", Path("run.db")}), (Paths{"none.db", Path("run.db")}));
}

TEST_F(LivePathsTest, WhatNeverCameToItsPlaceIsWhereItsNoteSays) {
  const std::string one = WriteSpooled("run.db");
  EXPECT_EQ(Find({Path("run.db")}), Paths{one});
  EXPECT_EQ(Find({folder_.path().string()}), Paths{one});
  EXPECT_EQ(Find({Path("other.db")}), Paths{Path("other.db")});
  Write("run.db");
  EXPECT_EQ(Find({Path("run.db")}), Paths{Path("run.db")}) << "what came is newer";
}

TEST_F(LivePathsTest, OneNameStandsForAllRanks) {
  const std::string first = WriteSpooled("run.rank00000.db"),
                    second = WriteSpooled("run.rank00001.db", "node2");
  WriteSpooled("run2.db");
  EXPECT_EQ(Find({Path("run.db")}), (Paths{first, second}));
  EXPECT_EQ(Find({Path("run.rank00001.db")}), Paths{second});
}

TEST_F(LivePathsTest, ASpoolOfAnotherMachineIsToldOf) {
  Write("run.db.node9.p7.1.spool", "node9:/nonexistent/run.node9.p7.1.db\n");
  Write("run.db.node8.p7.1.spool", "not a place");
  const LivePaths found = FindLivePaths({Path("run.db")});
  EXPECT_EQ(found.paths, Paths{Path("run.db")});
  ASSERT_EQ(found.elsewhere.size(), 1U);
  EXPECT_EQ(found.elsewhere[0].host, "node9");
  EXPECT_EQ(found.elsewhere[0].recording, "/nonexistent/run.node9.p7.1.db");
}

}  // namespace
}  // namespace traceinject
