// SPDX-License-Identifier: Apache-2.0
#include "injector/base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

class LogTest : public testing::Test {
 protected:
  void Log() {
    Options options;
    options.log = path_;
    traceinject::Log log;
    log.Open(options);
    log.Line("a line");
  }
  bool IsWritten(const std::string& path) const {
    return ReadText(path).find("a line") != std::string::npos;
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "log", other_ = folder_ / "other";
};

TEST_F(LogTest, IsForItsOwnerOnly) {
  Log();
  struct stat about {};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_TRUE(IsWritten(path_));
}

TEST_F(LogTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  Log();
  const int reader = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  Log();
  char byte = 0;
  EXPECT_EQ(read(reader, &byte, 1), 0) << "nor written to";
  close(reader);
}

TEST_F(LogTest, WhatHasAnotherNameIsLeftAlone) {
  std::ofstream(other_) << "precious";
  ASSERT_EQ(link(other_.c_str(), path_.c_str()), 0);
  Log();
  EXPECT_FALSE(IsWritten(other_));
}

TEST_F(LogTest, AnOwnLinkIsFollowedAndAnothersIsNot) {
  ASSERT_EQ(symlink(other_.c_str(), path_.c_str()), 0);
  Log();
  EXPECT_TRUE(IsWritten(other_));
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link to somebody";
  ASSERT_EQ(unlink(other_.c_str()), 0);
  constexpr uid_t kSomebody = 65534;
  ASSERT_EQ(lchown(path_.c_str(), kSomebody, kSomebody), 0);
  Log();
  EXPECT_FALSE(IsWritten(other_));
  ASSERT_EQ(unlink(path_.c_str()), 0);
  std::ofstream(path_) << "theirs";
  ASSERT_EQ(chown(path_.c_str(), kSomebody, kSomebody), 0);
  Log();
  EXPECT_FALSE(IsWritten(path_)) << "a file of somebody else";
}

TEST_F(LogTest, ADeviceMayBeNamed) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    GTEST_SKIP() << "there are no terminals here";
  const int kept = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(symlink(ptsname(terminal), path_.c_str()), 0);
  Log();
  char bytes[64] = {};
  EXPECT_GT(read(terminal, bytes, sizeof bytes), 0);
  close(kept);
  close(terminal);
}

}  // namespace
}  // namespace traceinject
