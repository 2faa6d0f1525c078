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

std::optional<std::string> Offered(const char* name) {
  const char* value = OfferedNcclLog(name);
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

TEST_F(NcclLogName, IsOfferedWhereNothingIsSet) {
  OfferNcclLog();
  EXPECT_EQ(Offered("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(Offered("NCCL_DEBUG_SUBSYS"), "INIT,NET,P2P,SHM,GRAPH");
  EXPECT_EQ(Offered("NCCL_DEBUG_TIMESTAMP_FORMAT"), std::nullopt);
  const std::string name = Offered("NCCL_DEBUG_FILE").value_or("");
  EXPECT_EQ(name.substr(0, 22), "/tmp/traceinject-nccl-");
  EXPECT_EQ(name.substr(name.size() - 3), "-%p");
  EXPECT_EQ(Path(), name.substr(0, name.size() - 2) + std::to_string(getpid()));
}

TEST_F(NcclLogName, TheEnvironmentStaysAsItIs) {
  OfferNcclLog();
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"})
    EXPECT_EQ(Variable(name), std::nullopt);
}

TEST_F(NcclLogName, WhatTheUserSetStays) {
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"}) {
    Clear();
    setenv(name, "WARN", 1);
    OfferNcclLog();
    EXPECT_EQ(Variable(name), "WARN");
    for (const char* each : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"})
      EXPECT_EQ(Offered(each), std::nullopt) << name;
    EXPECT_EQ(Path(), "");
  }
}

TEST_F(NcclLogName, WhatTheProgramSetsLaterMakesAllOfThemItsOwn) {
  OfferNcclLog();
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"}) {
    Clear();
    EXPECT_NE(Path(), "");
    setenv(name, "WARN", 1);
    for (const char* each : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"})
      EXPECT_EQ(Offered(each), std::nullopt) << name;
    EXPECT_EQ(Path(), "");
  }
}

TEST_F(NcclLogName, IsAnotherOneEachTime) {
  OfferNcclLog();
  const auto first = Offered("NCCL_DEBUG_FILE");
  OfferNcclLog();
  EXPECT_NE(Offered("NCCL_DEBUG_FILE"), first);
}

TEST_F(NcclLogName, FolderWithAPercentSign) {
  char folder[] = "/tmp/traceinject-50%p-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  setenv("TMPDIR", folder, 1);
  OfferNcclLog();
  EXPECT_EQ(Offered("NCCL_DEBUG_FILE").value_or("").substr(0, 21), "/tmp/traceinject-50%%");
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
    OfferNcclLog();
    EXPECT_EQ(Offered("NCCL_DEBUG_FILE").value_or("").substr(0, 22), "/tmp/traceinject-nccl-");
  }
}

}  // namespace
}  // namespace traceinject
