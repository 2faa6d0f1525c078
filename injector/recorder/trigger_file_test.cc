// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/trigger_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

#include "injector/base/clock.h"
#include "machine/testing/temporary_folder.h"

// What another thread of the program does between two calls of ours, when `g_taken_by` is the path
// of a file: it closes all descriptors (os.closerange), and gets the number for that file.
namespace {
const char* g_taken_by = nullptr;
int g_taken = -1;
}  // namespace

extern "C" int fstat(int fd, struct stat* about) noexcept {
  const auto done = static_cast<int>(syscall(SYS_newfstatat, fd, "", about, AT_EMPTY_PATH));
  if (g_taken_by == nullptr) return done;
  close(fd);
  g_taken = open(g_taken_by, O_RDONLY | O_CLOEXEC);
  g_taken_by = nullptr;
  EXPECT_EQ(g_taken, fd);
  return done;
}

namespace traceinject {
namespace {

constexpr std::int64_t kNoOrder = TriggerFile::kNoOrder, kStart = TriggerFile::kStart,
                       kStop = TriggerFile::kStop;

class TriggerFileTest : public testing::Test {
 protected:
  std::int64_t ReadAfter(const std::string& text) {
    std::ofstream(path_) << text;
    return file_.Read();
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "run.db.trigger";
  TriggerFile file_{path_, 0};
};

TEST_F(TriggerFileTest, OrdersAreOneWord) {
  EXPECT_EQ(file_.Read(), kNoOrder) << "there is none";
  EXPECT_EQ(ReadAfter("start\n"), kStart);
  EXPECT_EQ(ReadAfter("stop\n"), kStop);
  EXPECT_EQ(ReadAfter("auto\n"), kNoOrder);
  for (const char* other : {"", "\n", "star", "starting\n", "start at once\n", "\xff\xff"})
    EXPECT_EQ(ReadAfter(other), kNoOrder) << other;
}

TEST_F(TriggerFileTest, AStartMayEnd) {
  EXPECT_EQ(ReadAfter("start until 5000\n"), 5000);
  EXPECT_EQ(ReadAfter("start until soon\n"), kStop);
  EXPECT_EQ(ReadAfter("start until -5\n"), kStop);
}

TEST_F(TriggerFileTest, AnOrderFromBeforeTheRunIsNotForIt) {
  std::ofstream(path_) << "start\n";
  EXPECT_EQ(TriggerFile(path_, 0).Read(), kStart);
  const std::int64_t later = NowNs() + 3'600'000'000'000;
  EXPECT_EQ(TriggerFile(path_, later).Read(), kNoOrder);
}

TEST_F(TriggerFileTest, WhatIsNoFileOrdersNothing) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(file_.Read(), kNoOrder);
  unlink(path_.c_str());
  std::ofstream(folder_ / "another") << "stop\n";
  ASSERT_EQ(symlink((folder_ / "another").c_str(), path_.c_str()), 0);
  EXPECT_EQ(file_.Read(), kNoOrder) << "a link to one";
}

TEST_F(TriggerFileTest, ANumberThatTheProgramTookMeanwhileIsLeftToIt) {
  std::ofstream(path_) << "start\n";
  const std::string theirs = folder_ / "theirs";
  std::ofstream(theirs) << "stop\n";
  g_taken_by = theirs.c_str();
  EXPECT_EQ(file_.Read(), kNoOrder);
  ASSERT_GE(g_taken, 0);
  EXPECT_EQ(lseek(g_taken, 0, SEEK_CUR), 0) << "closed, or read from";
  close(g_taken);
  EXPECT_EQ(file_.Read(), kStart);
}

TEST_F(TriggerFileTest, OnlyTheUserOfTheRunAndRootGiveOrders) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody";
  std::ofstream(path_) << "stop\n";
  constexpr uid_t kSomebody = 65534, kOther = 65533;
  ASSERT_EQ(chown(path_.c_str(), kSomebody, kSomebody), 0);
  EXPECT_EQ(file_.Read(), kNoOrder) << "of somebody else";
  chmod(folder_.path().c_str(), 0755);
  chmod(path_.c_str(), 0644);
  const auto as_user = [&](uid_t user) {
    EXPECT_EQ(seteuid(user), 0);
    const std::int64_t order = file_.Read();
    EXPECT_EQ(seteuid(0), 0);
    return order;
  };
  EXPECT_EQ(as_user(kSomebody), kStop) << "of the user";
  EXPECT_EQ(as_user(kOther), kNoOrder);
  ASSERT_EQ(chown(path_.c_str(), 0, 0), 0);
  EXPECT_EQ(as_user(kOther), kStop) << "of root";
}

}  // namespace
}  // namespace traceinject
