// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/temporary_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

bool IsEmpty(const std::string& folder) {
  return fs::directory_iterator(folder) == fs::directory_iterator();
}

class TemporaryFileTest : public testing::Test {
 protected:
  TemporaryFileTest() {
    fs::create_directory(folder_ / "tmp");
    setenv("TMPDIR", tmp().c_str(), 1);
  }
  ~TemporaryFileTest() override { unsetenv("TMPDIR"); }
  std::string tmp() const { return folder_ / "tmp"; }

  // How a process ends that gets `signal` while it has a temporary file and its journal.
  int EndOfProcess(int signal, bool ignored) {
    const pid_t child = fork();
    if (child == 0) {
      // Whoever started the tests may have had it ignored.
      std::signal(signal, ignored ? SIG_IGN : SIG_DFL);
      const auto file = TemporaryFile::Create();
      if (!file.ok()) _exit(2);
      std::ofstream(file.value().path() + "-journal") << "x";
      raise(signal);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  TemporaryFolder folder_;
};

TEST_F(TemporaryFileTest, GoesWithItsOwner) {
  {
    auto file = TemporaryFile::Create();
    ASSERT_TRUE(file.ok()) << file.error();
    ASSERT_TRUE(file.value().Append("abc", 3).ok());
    EXPECT_EQ(fs::file_size(file.value().path()), 3u);
    const TemporaryFile moved = std::move(file).value();
    EXPECT_FALSE(IsEmpty(tmp()));
  }
  EXPECT_TRUE(IsEmpty(tmp()));
}

TEST_F(TemporaryFileTest, GoesWhenTheProcessIsInterrupted) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = EndOfProcess(signal, false);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_TRUE(IsEmpty(tmp())) << signal;
  }
}

// At any moment, one in which the file has just been made, too; signals come when a call returns.
TEST_F(TemporaryFileTest, GoesWheneverTheProcessIsInterrupted) {
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGTERM, SIG_DFL);
      // The signal is taken by either thread.
      std::thread other([] {
        for (;;) (void)TemporaryFile::Create();
      });
      for (;;) (void)TemporaryFile::Create();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1500 + 37 * i));
    kill(child, SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(IsEmpty(tmp())) << "process " << i;
  }
}

TEST_F(TemporaryFileTest, ManyGoWhenTheProcessIsInterrupted) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);
    std::vector<TemporaryFile> files;
    for (int i = 0; i < 200; ++i) files.push_back(TemporaryFile::Create().value());
    raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(IsEmpty(tmp()));
}

TEST_F(TemporaryFileTest, OneBesideAPathCanTakeItsName) {
  const std::string path = folder_ / "result.db";
  std::ofstream(path) << "older";
  {
    const auto given_up = TemporaryFile::CreateBeside(path);
    ASSERT_TRUE(given_up.ok()) << given_up.error();
    EXPECT_EQ(given_up.value().path().rfind(path + ".part-", 0), 0U);
    auto file = TemporaryFile::CreateBeside(path);
    ASSERT_TRUE(file.value().Append("abc", 3).ok());
    EXPECT_EQ(fs::file_size(path), 5U);
    ASSERT_TRUE(file.value().Keep(path).ok());
  }
  EXPECT_EQ(fs::file_size(path), 3U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2)
      << "it and the folder for others";
  auto file = TemporaryFile::CreateBeside(path);
  EXPECT_FALSE(file.value().Keep(folder_ / "nowhere/result.db").ok());
  EXPECT_FALSE(TemporaryFile::CreateBeside(folder_ / "nowhere/result.db").ok());
}

TEST_F(TemporaryFileTest, IgnoredSignalsStayIgnored) {
  const int status = EndOfProcess(SIGHUP, true);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace traceinject
