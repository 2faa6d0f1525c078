// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/new_recordings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class NewRecordingsTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name) { std::ofstream(Path(name)) << "1234"; }

  TemporaryFolder folder_;
};

TEST_F(NewRecordingsTest, OnlyWhatAppearedSince) {
  Write("run.db");
  const NewRecordings recordings(Path("run.db"));
  EXPECT_TRUE(recordings.Find().empty());
  // As the recorder does with a file of an earlier run.
  std::filesystem::rename(Path("run.db"), Path("run.db.1"));
  Write("run.db");
  EXPECT_EQ(recordings.Find(), std::vector<std::string>{Path("run.db")});
}

TEST_F(NewRecordingsTest, AnOldFileUnderANewNameIsNotNew) {
  Write("run.db");
  const NewRecordings recordings(Path("run.db"));
  std::filesystem::rename(Path("run.db"), Path("run.p12.db"));
  EXPECT_TRUE(recordings.Find().empty());
}

TEST_F(NewRecordingsTest, RanksAndProcessesAreFoundAndNothingElse) {
  const NewRecordings recordings(Path("run.db"));
  for (const char* name : {"run.rank00000.db", "run.rank00001.db", "run.p7.db", "running.db",
                           "run.rank00000.db-wal", "other.db"})
    Write(name);
  const auto found = recordings.Find();
  EXPECT_EQ(found, (std::vector<std::string>{Path("run.p7.db"), Path("run.rank00000.db"),
                                             Path("run.rank00001.db")}));
  EXPECT_EQ(BytesOf(found), 16);  // three files and a log
}

TEST_F(NewRecordingsTest, WhatIsInItsSpoolIsFoundThere) {
  std::filesystem::create_directory(Path("spool"));
  const auto announce = [&](const std::string& name) {
    Write("spool/" + name);
    std::ofstream(Path(name + ".spool")) << "node1:" << Path("spool/" + name) << "\n";
  };
  announce("run.db.node1.p7.1");
  const NewRecordings recordings(Path("run.db"));
  EXPECT_TRUE(recordings.Find().empty()) << "that a killed process left there";
  announce("run.db.node1.p8.1");
  announce("other.db.node1.p8.1");
  EXPECT_EQ(recordings.Find(), std::vector<std::string>{Path("spool/run.db.node1.p8.1")});
  std::filesystem::rename(Path("spool/run.db.node1.p8.1"), Path("run.db"));
  EXPECT_EQ(recordings.Find(), std::vector<std::string>{Path("run.db")});
}

TEST_F(NewRecordingsTest, NamesAndFoldersMadeOfFacts) {
  const NewRecordings recordings(Path("%h/out-%p.db"));
  std::filesystem::create_directory(Path("node7"));
  Write("node7/out-12.db");
  EXPECT_EQ(recordings.Find(), std::vector<std::string>{Path("node7/out-12.db")});
}

}  // namespace
}  // namespace traceinject
