// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/try/program_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class ProgramTreeTest : public testing::Test {
 protected:
  Status Start(const std::string& script) {
    return tree_.Start(
        {{"sh", "-c", script}, {"PATH=/usr/bin:/bin"}, folder_.path().string(), log()});
  }
  std::string log() const { return folder_ / "log"; }
  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The process whose number the program wrote there.
  pid_t WaitForPid(const std::string& name) const {
    for (int i = 0; i < 500; ++i) {
      const std::string text = Read(name);
      if (text.ends_with('\n')) return std::stoi(text);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return -1;
  }

  TemporaryFolder folder_;
  ProgramTree tree_;
};

TEST_F(ProgramTreeTest, RunsToItsEnd) {
  ASSERT_TRUE(Start("echo out; echo err >&2; exit 3").ok());
  while (tree_.IsRunning()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(tree_.exit_code(), 3);
  EXPECT_EQ(Read("log"), "out\nerr\n");
}

TEST_F(ProgramTreeTest, EndsWhatWentIntoASessionOfItsOwnAndLostItsParent) {
  ASSERT_TRUE(Start("setsid sh -c 'trap \"\" TERM; echo $$ > deep; while :; do sleep 0.1; done' & "
                    "sleep 0.2; exit 0")
                  .ok());
  const pid_t deep = WaitForPid("deep");
  ASSERT_GT(deep, 0);
  while (tree_.IsRunning()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(kill(deep, 0), 0);
  tree_.End();
  EXPECT_NE(kill(deep, 0), 0);
}

TEST_F(ProgramTreeTest, AProgramThatIsNotThere) {
  ASSERT_TRUE(tree_.Start({{"no-such-program"}, {}, {}, log()}).ok());
  while (tree_.IsRunning()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(tree_.exit_code(), 127);
  EXPECT_EQ(Read("log"), "no-such-program: no such program\n");
}

}  // namespace
}  // namespace traceinject
