// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/folder_list.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

using Indices = std::vector<std::size_t>;

class FolderListTest : public testing::Test {
 protected:
  void Write(const std::string& name, std::size_t bytes = 3) {
    std::ofstream(folder_ / name) << std::string(bytes, 'x');
  }
  FolderList List() { return ReadFolderList(folder_.path().string()); }

  const TemporaryFolder folder_;
};

TEST_F(FolderListTest, FoldersThenWhatCanBeOpened) {
  std::filesystem::create_directory(folder_.path() / "zebra");
  std::filesystem::create_directory(folder_.path() / ".hidden");
  Write("run.db", 7);
  Write("old.db.zst", 5);
  Write("trace.json", 4);
  Write("run.db.marks.json");
  Write("train.py");
  const FolderList list = List();
  ASSERT_TRUE(list.readable);
  const std::vector<FolderEntry> expected = {{"zebra", true},
                                             {"old.db.zst", false, 1, 5},
                                             {"run.db", false, 1, 7},
                                             {"trace.json", false, 1, 4}};
  EXPECT_EQ(list.entries, expected);
}

TEST_F(FolderListTest, RanksOfOneRunAreOneEntry) {
  for (const char* rank : {"00000", "00001", "00002"})
    Write(std::string("run.rank") + rank + ".db.zst", 2);
  Write("alone.rank00003.db");
  const std::vector<FolderEntry> expected = {{"alone.rank00003.db", false, 1, 3},
                                             {"run.db", false, 3, 6}};
  EXPECT_EQ(List().entries, expected);
  Write("run.db");
  EXPECT_EQ(List().entries.size(), 5U) << "its name means the file that has it";
}

TEST_F(FolderListTest, AFolderThatIsNotThereIsNotReadable) {
  EXPECT_FALSE(ReadFolderList(folder_ / "nowhere").readable);
}

TEST(TypedPathTest, IsAFolderAndTheStartOfAName) {
  EXPECT_EQ(SplitTyped("", "/home/a"), (TypedPath{".", ""}));
  EXPECT_EQ(SplitTyped("run", "/home/a"), (TypedPath{".", "run"}));
  EXPECT_EQ(SplitTyped("/data/ru", "/home/a"), (TypedPath{"/data/", "ru"}));
  EXPECT_EQ(SplitTyped("~/ru", "/home/a"), (TypedPath{"/home/a/", "ru"}));
  EXPECT_EQ(SplitTyped("~/ru", ""), (TypedPath{"~/", "ru"}));
}

TEST(TypedPathTest, IsCompletedByWhatCanOnlyFollow) {
  FolderList list;
  list.entries = {{"runs", true}, {"data", true}, {"run_a.db"}, {"run_b.db"}};
  EXPECT_EQ(EntriesStarting(list, "run"), (Indices{0, 2, 3}));
  EXPECT_EQ(EntriesStarting(list, ""), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(Completed("/x/r", list), "/x/run");
  EXPECT_EQ(Completed("/x/run_", list), "/x/run_");
  EXPECT_EQ(Completed("/x/run_b", list), "/x/run_b.db");
  EXPECT_EQ(Completed("d", list), "data/") << "of a folder what is in it may follow";
  EXPECT_EQ(Completed("none", list), "none");
}

}  // namespace
}  // namespace traceinject
