// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/run_paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

class RunPathsTest : public testing::Test {
 protected:
  void Touch(const std::string& name) { std::ofstream(folder_ / name) << "x"; }
  // Names of the files found, without their folder; the error in angle brackets.
  std::vector<std::string> Resolve(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder_ / name);
    auto found = ResolveRunPaths(paths);
    if (!found.ok()) return {"<" + found.error() + ">"};
    notes_ = found.value().notes;
    std::vector<std::string> result;
    for (const std::string& file : found.value().files)
      result.push_back(fs::path(file).filename().string());
    return result;
  }
  using Names = std::vector<std::string>;
  TemporaryFolder folder_;
  Names notes_;
};

TEST_F(RunPathsTest, OneFile) {
  Touch("run.db");
  EXPECT_EQ(Resolve({"run.db"}), Names{"run.db"});
  EXPECT_EQ(Resolve({"run.db", "run.db"}), Names{"run.db"});
  EXPECT_TRUE(notes_.empty());
}

TEST_F(RunPathsTest, SiblingsStandForTheName) {
  for (const char* name : {"run.rank00001.db", "run.rank00000.db", "run.rank00002.db.zst",
                           "run.rank00000.db.1", "run.rank00003.p77.db", "run.rank00000.db-wal",
                           "other.rank00000.db", "run.rank00001.db.zst"}) {
    Touch(name);
  }
  const Names expected = {"run.rank00000.db", "run.rank00001.db", "run.rank00002.db.zst",
                          "run.rank00003.p77.db"};
  EXPECT_EQ(Resolve({"run.db"}), expected);
  EXPECT_EQ(Resolve({"run.db.zst"}), expected);
  EXPECT_EQ(Resolve({"run.rank00001.db"}), Names{"run.rank00001.db"});
}

TEST_F(RunPathsTest, TracesOfAFolderWithoutRecordings) {
  for (const char* name : {"b.pt.trace.json.gz", "a.json", "a.json.gz", "c.sqlite", "d.rpd",
                           "notes.txt", "run.db.marks.json", "trace.comm_groups.json"})
    Touch(name);
  EXPECT_EQ(Resolve({""}), (Names{"a.json", "b.pt.trace.json.gz", "c.sqlite", "d.rpd"}));
  Touch("run.db");
  EXPECT_EQ(Resolve({""}), Names{"run.db"});
  EXPECT_EQ(Resolve({"a.json.gz"}), Names{"a.json.gz"});
}

TEST_F(RunPathsTest, AFileHidesOthersOfItsNameAndSaysSo) {
  Touch("run.db");
  Touch("run.prod.db");
  Touch("run.p.db");
  EXPECT_EQ(Resolve({"run.db"}), Names{"run.db"});
  EXPECT_TRUE(notes_.empty());
  Touch("run.p123.db");
  EXPECT_EQ(Resolve({"run.db"}), Names{"run.db"});
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("run.p123.db next to it"), std::string::npos) << notes_[0];
  Touch("run.rank00000.db");
  EXPECT_EQ(Resolve({"run.db"}), Names{"run.db"});
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("2 files next to it (run.rank00000.db, ...)"), std::string::npos)
      << notes_[0];
}

TEST_F(RunPathsTest, CompressedFileStandsForTheName) {
  Touch("run.db.zst");
  EXPECT_EQ(Resolve({"run.db"}), Names{"run.db.zst"});
}

TEST_F(RunPathsTest, FoldersAndSeveralPaths) {
  fs::create_directory(folder_ / "a");
  fs::create_directory(folder_ / "a/folder.db");
  Touch("a/run.db");
  Touch("a/b.db.zst");
  Touch("a/notes.txt");
  Touch("z.db");
  EXPECT_EQ(Resolve({"a"}), (Names{"b.db.zst", "run.db"}));
  EXPECT_EQ(Resolve({"z.db", "a"}), (Names{"z.db", "b.db.zst", "run.db"}));
}

TEST_F(RunPathsTest, SummariesWhereTheirRecordingIsNot) {
  fs::create_directory(folder_ / "a");
  Touch("a/run.rank00000.db");
  Touch("a/run.rank00000.summary");
  Touch("a/run.rank00001.db.zst");
  Touch("a/run.rank00001.summary");
  Touch("a/run.rank00002.summary");
  const auto files = [&](const std::string& name) {
    Names names;
    const auto found = ResolveRunPaths({folder_ / name}, PathsTo::kRecordingsOrSummaries);
    if (!found.ok()) return Names{found.error()};
    for (const std::string& file : found.value().files)
      names.push_back(fs::path(file).filename().string());
    return names;
  };
  const Names expected = {"run.rank00000.db", "run.rank00001.db.zst", "run.rank00002.summary"};
  EXPECT_EQ(files("a"), expected);
  EXPECT_EQ(files("a/run.db"), expected);
  EXPECT_EQ(files("a/run.rank00001.summary"), Names{"run.rank00001.summary"}) << "as it is named";
  EXPECT_EQ(Resolve({"a"}), (Names{"run.rank00000.db", "run.rank00001.db.zst"}));
  fs::create_directory(folder_ / "b");
  Touch("b/run.rank00000.summary");
  EXPECT_EQ(files("b/run.db"), Names{"run.rank00000.summary"});
  EXPECT_EQ(files("b"), Names{"run.rank00000.summary"});
  fs::create_directory(folder_ / "c");
  EXPECT_NE(files("c")[0].find("no summary (*.summary)"), std::string::npos);
}

TEST_F(RunPathsTest, NamesOfSummaries) {
  for (const char* name : {"x/run.rank00003.db", "run.rank00003.db.zst", "run.rank00003.summary",
                           "run.rank00003.json.gz"})
    EXPECT_EQ(SummaryPath("out", name), "out/run.rank00003.summary");
}

TEST_F(RunPathsTest, NothingThere) {
  fs::create_directory(folder_ / "empty");
  EXPECT_NE(Resolve({"empty"})[0].find("no recording in this folder"), std::string::npos);
  EXPECT_NE(Resolve({"run.db"})[0].find("no such file"), std::string::npos);
  EXPECT_NE(Resolve({""})[0].find("no recording in this folder"), std::string::npos);
  EXPECT_FALSE(ResolveRunPaths({}).ok());
  EXPECT_TRUE(RecordingsInFolder(folder_ / "nowhere").empty());
}

TEST_F(RunPathsTest, WhatMayNotBeReadIsNotCalledMissing) {
  fs::create_directory(folder_ / "locked");
  Touch("locked/run.db");
  fs::permissions(folder_ / "locked", fs::perms::none);
  // Root may read anything, so root becomes nobody.
  constexpr uid_t kNobody = 65534;
  const bool is_root = geteuid() == 0;
  fs::permissions(folder_.path(),
                  fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  ASSERT_TRUE(!is_root || seteuid(kNobody) == 0);
  const Names folder = Resolve({"locked"}), file = Resolve({"locked/run.db"});
  ASSERT_TRUE(!is_root || seteuid(0) == 0);
  fs::permissions(folder_ / "locked", fs::perms::owner_all);
  EXPECT_NE(folder[0].find("cannot read this folder (Permission denied)"), std::string::npos)
      << folder[0];
  EXPECT_NE(file[0].find("cannot access (Permission denied)"), std::string::npos) << file[0];
}

}  // namespace
}  // namespace traceinject
