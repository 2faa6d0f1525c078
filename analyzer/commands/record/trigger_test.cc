// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/trigger.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/commands/analyze.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

TEST(Trigger, OrdersReplaceEachOther) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db";
  std::ofstream(run) << "recorded";
  for (const char* order : {"start", "stop", "auto"}) {
    EXPECT_EQ(Analyze({"trigger", order, run}), kReported);
    EXPECT_EQ(FirstLine(run + ".trigger"), order);
  }
  EXPECT_EQ(Analyze({"trigger", "status", run}), kReported);
  EXPECT_EQ(FirstLine(run + ".trigger"), "auto");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(run.substr(0, run.rfind('/'))), {}),
            2);
}

TEST(Trigger, WhatNobodyRecordsGetsNoOrder) {
  const TemporaryFolder folder;
  const std::string run = folder / "nobody.db";
  for (const char* order : {"start", "stop", "auto"}) {
    EXPECT_EQ(Analyze({"trigger", order, run}), kBadUsage);
    EXPECT_FALSE(std::filesystem::exists(run + ".trigger"));
  }
  EXPECT_EQ(Analyze({"trigger", "status", run}), kReported);
  EXPECT_EQ(Analyze({"trigger", "start", run, "--force"}), kReported) << "on another machine";
  EXPECT_EQ(Analyze({"trigger", "stop", run}), kReported) << "as it was told to start";
}

TEST(Trigger, AStartMayEnd) {
  const TemporaryFolder folder;
  std::ofstream(folder / "run.db") << "recorded";
  EXPECT_EQ(Analyze({"trigger", "start", folder / "run.db", "--for", "10s"}), kReported);
  const std::string line = FirstLine(folder / "run.db.trigger");
  ASSERT_EQ(line.substr(0, 12), "start until ");
  EXPECT_GT(std::stoll(line.substr(12)), 1'700'000'000'000'000'000);
}

TEST(Trigger, WhatSomebodyPutInItsWayIsNotWrittenTo) {
  const TemporaryFolder folder;
  const std::string path = folder / "run.db.trigger", victim = folder / "victim";
  std::ofstream(victim) << "precious\n";
  // The second is what another process of this number would write.
  for (const std::string& link : {path, path + "." + std::to_string(getpid())})
    ASSERT_EQ(symlink(victim.c_str(), link.c_str()), 0);
  EXPECT_TRUE(WriteTrigger(path, "stop").ok());
  EXPECT_EQ(FirstLine(victim), "precious");
  EXPECT_EQ(FirstLine(path), "stop");
}

TEST(Trigger, WrongUse) {
  const TemporaryFolder folder;
  EXPECT_EQ(Analyze({"trigger", "begin", folder / "run.db"}), kBadUsage);
  EXPECT_EQ(Analyze({"trigger"}), kBadUsage);
  EXPECT_EQ(Analyze({"trigger", "stop", folder / "run.db", "--for", "10s"}), kBadUsage);
  EXPECT_EQ(Analyze({"trigger", "start", folder / "missing/run.db"}), kBadUsage);
  EXPECT_EQ(Analyze({"trigger", "start", folder / "missing/run.db", "--force"}), kUnreadable);
  EXPECT_FALSE(WriteTrigger(folder / "missing/run.db.trigger", "start").ok());
}

}  // namespace
}  // namespace traceinject
