// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_name.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <optional>

extern char** environ;

namespace traceinject {
namespace {

std::optional<std::string> Variable(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

class NcclLogName : public testing::Test {
 protected:
  void SetUp() override { Clear(); }
  void TearDown() override { Clear(); }
  static void Clear() {
    for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE", "TMPDIR"})
      unsetenv(name);
  }
  static std::string Path() { return NcclLogPath(EnvironmentCopy(environ)); }
};

TEST_F(NcclLogName, IsPublishedWhereNothingIsSet) {
  PublishNcclLog();
  EXPECT_EQ(Variable("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(Variable("NCCL_DEBUG_SUBSYS"), "INIT,NET,P2P,SHM,GRAPH");
  const std::string name = Variable("NCCL_DEBUG_FILE").value_or("");
  EXPECT_EQ(name.substr(0, 22), "/tmp/traceinject-nccl-");
  EXPECT_EQ(name.substr(name.size() - 3), "-%p");
  EXPECT_EQ(Path(), name.substr(0, name.size() - 2) + std::to_string(getpid()));
}

TEST_F(NcclLogName, WhatTheUserSetStays) {
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"}) {
    Clear();
    setenv(name, "WARN", 1);
    PublishNcclLog();
    WithdrawNcclLog();
    EXPECT_EQ(Variable(name), "WARN");
    int set = 0;
    for (const char* each : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"})
      set += Variable(each) ? 1 : 0;
    EXPECT_EQ(set, 1) << name;
    EXPECT_EQ(Path(), "");
  }
}

TEST_F(NcclLogName, ChildGetsANameOfItsOwn) {
  PublishNcclLog();
  const auto parents = Variable("NCCL_DEBUG_FILE");
  PublishNcclLog();
  EXPECT_EQ(Variable("NCCL_DEBUG"), "INFO");
  EXPECT_NE(Variable("NCCL_DEBUG_FILE"), parents);
}

TEST_F(NcclLogName, LevelThatAParentSetForItsChildrenStays) {
  PublishNcclLog();
  setenv("NCCL_DEBUG", "WARN", 1);
  PublishNcclLog();
  EXPECT_EQ(Variable("NCCL_DEBUG"), "WARN");
  EXPECT_EQ(Variable("NCCL_DEBUG_FILE"), std::nullopt);
  EXPECT_EQ(Variable("NCCL_DEBUG_SUBSYS"), std::nullopt);
}

TEST_F(NcclLogName, IsWithdrawn) {
  PublishNcclLog();
  WithdrawNcclLog();
  for (const char* each : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"})
    EXPECT_EQ(Variable(each), std::nullopt);
}

TEST_F(NcclLogName, FolderWithAPercentSign) {
  char folder[] = "/tmp/traceinject-50%p-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  setenv("TMPDIR", folder, 1);
  PublishNcclLog();
  EXPECT_EQ(Variable("NCCL_DEBUG_FILE").value_or("").substr(0, 21), "/tmp/traceinject-50%%");
  EXPECT_EQ(Path().substr(0, sizeof folder), std::string(folder) + "/");
  rmdir(folder);
}

// NCCL would write to the program's standard output if it could make no file.
TEST_F(NcclLogName, FolderThatIsOfNoUse) {
  for (const std::string& folder :
       {std::string("tmp"), std::string("/no/such/folder"), std::string("/proc/self/status"),
        "/" + std::string(5000, 'x')}) {
    Clear();
    setenv("TMPDIR", folder.c_str(), 1);
    PublishNcclLog();
    EXPECT_EQ(Variable("NCCL_DEBUG_FILE").value_or("").substr(0, 22), "/tmp/traceinject-nccl-");
  }
}

}  // namespace
}  // namespace traceinject
