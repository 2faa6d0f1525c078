// SPDX-License-Identifier: Apache-2.0
#include "injector/store/spool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "injector/testing/test_support.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

// The spool is on another file system than the place, so that the recording is copied.
class SpoolTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/dev/shm/traceinject-test.XXXXXX";
    struct stat here, there;
    if (mkdtemp(pattern) == nullptr) GTEST_SKIP() << "no /dev/shm";
    shm_ = pattern;
    if (stat(pattern, &here) != 0 || stat(folder_.path().c_str(), &there) != 0 ||
        here.st_dev == there.st_dev)
      GTEST_SKIP() << "there is one file system";
    spool_.emplace(shm_, folder_ / "run.db", "host", 7, 1);
    WriteText(spool_->path(), "recording");
    WriteText(victim_, "precious");
  }
  void TearDown() override {
    if (!shm_.empty()) fs::remove_all(shm_);
  }
  bool Deliver() {
    return spool_->Deliver([] { return true; }, &where_, &why_);
  }
  std::string part() const { return spool_->note() + ".part"; }

  TemporaryFolder folder_;
  const std::string victim_ = folder_ / "victim";
  std::string shm_, where_, why_;
  std::optional<Spool> spool_;
};

TEST_F(SpoolTest, ArrivesAsACopy) {
  spool_->Announce();
  EXPECT_EQ(ReadText(spool_->note()), "host:" + spool_->path() + "\n");
  ASSERT_TRUE(Deliver()) << why_;
  EXPECT_EQ(ReadText(where_), "recording");
  EXPECT_EQ(folder_.Names(), (std::set<std::string>{"run.db", "victim"}));
}

TEST_F(SpoolTest, WhatAProcessOfOursLeftIsReplaced) {
  WriteText(spool_->note(), "an old and longer note, of a process that died");
  WriteText(part(), "a part of something that was longer than a recording");
  spool_->Announce();
  EXPECT_EQ(ReadText(spool_->note()), "host:" + spool_->path() + "\n");
  ASSERT_TRUE(Deliver()) << why_;
  EXPECT_EQ(ReadText(where_), "recording");
}

TEST_F(SpoolTest, LinksThatSomebodyPlantedAreNotFollowed) {
  fs::create_symlink(victim_, spool_->note());
  fs::create_symlink(victim_, part());
  spool_->Announce();
  EXPECT_FALSE(Deliver());
  EXPECT_NE(why_.find("cannot copy the recording there: File exists"), std::string::npos) << why_;
  EXPECT_EQ(ReadText(victim_), "precious");
  EXPECT_EQ(ReadText(spool_->path()), "recording") << "it stays where it is";
  EXPECT_TRUE(fs::is_symlink(part())) << "not ours to remove";
}

TEST_F(SpoolTest, SecondNamesOfOtherFilesAreNotWrittenTo) {
  fs::create_hard_link(victim_, part());
  EXPECT_FALSE(Deliver());
  EXPECT_EQ(ReadText(victim_), "precious");
}

}  // namespace
}  // namespace traceinject
