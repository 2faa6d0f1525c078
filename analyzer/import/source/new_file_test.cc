// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/new_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebody = 65534;

mode_t ModeOf(const std::string& path) {
  struct stat about = {};
  EXPECT_EQ(lstat(path.c_str(), &about), 0);
  EXPECT_TRUE(S_ISREG(about.st_mode));
  EXPECT_EQ(about.st_uid, geteuid());
  return about.st_mode & 0777U;
}

class NewFileTest : public testing::Test {
 protected:
  void Write(std::string_view text) { ASSERT_EQ(WriteWhole(path_, text).error, 0); }
  std::ptrdiff_t Files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a", victim_ = folder_ / "victim";
};

TEST_F(NewFileTest, IsForItsOwnerUnlessTheOldOneWasShared) {
  Write("text");
  EXPECT_EQ(ModeOf(path_), 0600U);
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  Write("more");
  EXPECT_EQ(ReadText(path_), "more");
  EXPECT_EQ(ModeOf(path_), 0644U);
  EXPECT_EQ(Files(), 1);
}

TEST_F(NewFileTest, ALinkIsReplacedAndNotFollowed) {
  std::ofstream(victim_) << "precious";
  ASSERT_EQ(chmod(victim_.c_str(), 0666), 0);
  ASSERT_EQ(symlink(victim_.c_str(), path_.c_str()), 0);
  Write("text");
  EXPECT_EQ(ReadText(victim_), "precious");
  EXPECT_EQ(ModeOf(path_), 0600U);
}

TEST_F(NewFileTest, AHardLinkIsNotWrittenThrough) {
  std::ofstream(victim_) << "precious";
  ASSERT_EQ(link(victim_.c_str(), path_.c_str()), 0);
  Write("text");
  EXPECT_EQ(ReadText(victim_), "precious");
}

TEST_F(NewFileTest, AFileOfSomebodyElseLendsNoPermissions) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody";
  std::ofstream(path_) << "planted";
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  ASSERT_EQ(chown(path_.c_str(), kSomebody, kSomebody), 0);
  const int reader = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  Write("text");
  EXPECT_EQ(ModeOf(path_), 0600U);
  char bytes[16] = {};
  EXPECT_EQ(pread(reader, bytes, sizeof bytes, 0), 7) << "what reads the planted one";
  close(reader);
}

TEST_F(NewFileTest, APipeOfSomebodyElseIsNotWrittenTo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link to somebody";
  ASSERT_EQ(mkfifo(victim_.c_str(), 0666), 0);
  ASSERT_EQ(symlink(victim_.c_str(), path_.c_str()), 0);
  EXPECT_TRUE(IsWrittenInPlace(path_));
  ASSERT_EQ(lchown(path_.c_str(), kSomebody, kSomebody), 0);
  EXPECT_FALSE(IsWrittenInPlace(path_));
  Write("text");
  EXPECT_EQ(ModeOf(path_), 0600U);
}

TEST_F(NewFileTest, PipesAndDevicesStay) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = ReadText(path_); });
  Write("text");
  reader.join();
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(fs::is_fifo(path_));
  EXPECT_TRUE(IsWrittenInPlace("/dev/null"));
  const WriteFailure full = WriteWhole("/dev/full", "x");
  EXPECT_EQ(full.error, ENOSPC);
  EXPECT_TRUE(full.opened);
}

TEST_F(NewFileTest, AFileBehindStdoutIsWrittenOn) {
  std::ofstream(path_) << "before\n";
  const int kept = dup(STDOUT_FILENO);
  const int file = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  dup2(file, STDOUT_FILENO);
  const WriteFailure written = WriteWhole("/dev/stdout", "text\n");
  dup2(kept, STDOUT_FILENO);
  close(kept);
  close(file);
  EXPECT_EQ(written.error, 0);
  EXPECT_EQ(ReadText(path_), "before\ntext\n");
}

TEST_F(NewFileTest, WhatIsGivenUpLeavesNothing) {
  { const NewFile file(path_); }
  EXPECT_EQ(Files(), 0);
  EXPECT_EQ(WriteWhole(folder_ / "no/such/folder", "x").error, ENOENT);
  EXPECT_EQ(NewFile(folder_ / "no/such/folder").descriptor(), -1);
}

}  // namespace
}  // namespace traceinject
