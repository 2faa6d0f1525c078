// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "injector/base/counters.h"
#include "injector/base/guarded_io.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class NcclLogFileTest : public testing::Test {
 protected:
  std::vector<std::string> Poll(NcclLogFile* log) {
    std::vector<std::string> lines;
    log->Poll([&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  }
  bool Exists() const { return std::filesystem::exists(std::filesystem::symlink_status(path_)); }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "log";
};

using Lines = std::vector<std::string>;

TEST_F(NcclLogFileTest, IsReadOnAfterItWasRemoved) {
  NcclLogFile log(path_);
  EXPECT_TRUE(log.awaited());
  EXPECT_EQ(Poll(&log), Lines{});
  std::ofstream file(path_);
  file << "one\ntwo\nth" << std::flush;
  EXPECT_EQ(Poll(&log), (Lines{"one", "two"}));
  EXPECT_FALSE(Exists());
  EXPECT_FALSE(log.awaited());
  file << "ree\n\nfour" << std::flush;
  EXPECT_EQ(Poll(&log), (Lines{"three", ""}));
  EXPECT_EQ(Poll(&log), Lines{});
}

// The recording's own descriptors must not look lost because this one has no name.
TEST_F(NcclLogFileTest, IsNoLossOfTheRecording) {
  NcclLogFile log(path_);
  std::ofstream(path_) << "one\n";
  Poll(&log);
  EXPECT_FALSE(DescriptorsLost());
}

TEST_F(NcclLogFileTest, AnotherOneThatComesLater) {
  NcclLogFile log(path_);
  std::ofstream first(path_);
  first << "one\nhalf" << std::flush;
  EXPECT_EQ(Poll(&log), Lines{"one"});
  first << " two\n" << std::flush;
  std::ofstream(path_) << "three\n";
  EXPECT_EQ(Poll(&log), (Lines{"half two", "three"}));
  EXPECT_FALSE(Exists());
}

TEST_F(NcclLogFileTest, WithoutAName) {
  NcclLogFile log("");
  EXPECT_FALSE(log.awaited());
  EXPECT_EQ(Poll(&log), Lines{});
  log.Remove();
}

TEST_F(NcclLogFileTest, FileThatCameLateIsRemoved) {
  NcclLogFile log(path_);
  std::ofstream(path_) << "one\n";
  log.Remove();
  EXPECT_FALSE(Exists());
}

TEST_F(NcclLogFileTest, LinkIsNotFollowed) {
  const std::int64_t before = g_counters.Get(Health::kNcclLogFailed);
  std::ofstream(folder_ / "target") << "one\n";
  ASSERT_EQ(symlink((folder_ / "target").c_str(), path_.c_str()), 0);
  NcclLogFile log(path_);
  EXPECT_EQ(Poll(&log), Lines{});
  EXPECT_FALSE(log.awaited());
  EXPECT_NE(log.failure(), "");
  EXPECT_EQ(Poll(&log), Lines{});
  EXPECT_EQ(g_counters.Get(Health::kNcclLogFailed), before + 1);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "target"));
}

TEST_F(NcclLogFileTest, PipeAndFolderAreRefused) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  NcclLogFile pipe(path_);
  EXPECT_EQ(Poll(&pipe), Lines{});
  EXPECT_NE(pipe.failure(), "");
  EXPECT_TRUE(Exists());
  unlink(path_.c_str());
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  NcclLogFile folder(path_);
  EXPECT_EQ(Poll(&folder), Lines{});
  EXPECT_NE(folder.failure(), "");
}

TEST_F(NcclLogFileTest, LongLinesAreLeftOut) {
  const std::int64_t before = g_counters.Get(Health::kNcclLogDropped);
  NcclLogFile log(path_);
  std::ofstream file(path_);
  file << std::string(NcclLogFile::kMaxLineBytes, 'a') << "\n"
       << std::string(NcclLogFile::kMaxLineBytes + 1, 'b') << "\nshort\n"
       << std::string(200'000, 'c') << std::flush;
  Lines lines = Poll(&log);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), NcclLogFile::kMaxLineBytes);
  EXPECT_EQ(lines[1], "short");
  file << "\nnext\n" << std::flush;
  EXPECT_EQ(Poll(&log), Lines{"next"});
  EXPECT_EQ(g_counters.Get(Health::kNcclLogDropped), before + 2);
}

TEST_F(NcclLogFileTest, OnlySoMuchIsRead) {
  const std::int64_t before = g_counters.Get(Health::kNcclLogDropped);
  NcclLogFile log(path_);
  std::ofstream file(path_);
  const std::string line(1023, 'a');
  constexpr std::int64_t kLines = NcclLogFile::kMaxBytes / 1024;
  for (std::int64_t i = 0; i < kLines + 1000; ++i) file << line << '\n';
  file << std::flush;
  EXPECT_EQ(static_cast<std::int64_t>(Poll(&log).size()), kLines);
  EXPECT_EQ(Poll(&log), Lines{});
  EXPECT_EQ(g_counters.Get(Health::kNcclLogDropped), before + 1);
}

// What os.closerange() does; the program's own file then has our number.
TEST_F(NcclLogFileTest, ProgramClosesItsDescriptor) {
  NcclLogFile log(path_);
  std::ofstream(path_) << "one\n";
  const int lowest = open("/dev/null", O_RDONLY);
  close(lowest);
  EXPECT_EQ(Poll(&log), Lines{"one"});
  const std::string victim = folder_ / "victim";
  std::ofstream(victim) << "weights\nof the program\n";
  const int other = open(victim.c_str(), O_RDONLY);
  ASSERT_EQ(dup2(other, lowest), lowest);  // the log had the lowest free number
  close(other);
  EXPECT_EQ(Poll(&log), Lines{});
  EXPECT_NE(log.failure(), "");
  EXPECT_EQ(fcntl(lowest, F_GETFD) >= 0, true);
  close(lowest);
}

}  // namespace
}  // namespace traceinject
