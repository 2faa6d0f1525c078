// SPDX-License-Identifier: Apache-2.0
#include "injector/core/trigger_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "injector/core/clock.h"
#include "injector/core/temp_folder.h"

namespace traceinject {
namespace {

using Order = TriggerFile::Order;

class TriggerFileTest : public testing::Test {
 protected:
  Order ReadAfter(const std::string& text, std::int64_t now_ns = 0) {
    std::ofstream(folder_ / "run.db.trigger") << text;
    return file_.Read(now_ns);
  }
  TempFolder folder_;
  TriggerFile file_{folder_ / "run.db.trigger", 0};
};

TEST_F(TriggerFileTest, OrdersAreOneWord) {
  EXPECT_EQ(file_.Read(0), Order::kNone) << "there is none";
  EXPECT_EQ(ReadAfter("start\n"), Order::kStart);
  EXPECT_EQ(ReadAfter("stop\n"), Order::kStop);
  EXPECT_EQ(ReadAfter("auto\n"), Order::kNone);
  for (const char* other : {"", "\n", "star", "starting\n", "start at once\n", "\xff\xff"})
    EXPECT_EQ(ReadAfter(other), Order::kNone) << other;
}

TEST_F(TriggerFileTest, AStartMayEnd) {
  EXPECT_EQ(ReadAfter("start until 5000\n", 4999), Order::kStart);
  EXPECT_EQ(ReadAfter("start until 5000\n", 5000), Order::kStop);
  EXPECT_EQ(ReadAfter("start until soon\n", 5000), Order::kStop);
}

TEST_F(TriggerFileTest, AnOrderFromBeforeTheRunIsNotForIt) {
  std::ofstream(folder_ / "run.db.trigger") << "start\n";
  EXPECT_EQ(TriggerFile(folder_ / "run.db.trigger", 0).Read(0), Order::kStart);
  const std::int64_t later = NowNs() + 3'600'000'000'000;
  EXPECT_EQ(TriggerFile(folder_ / "run.db.trigger", later).Read(0), Order::kNone);
}

TEST_F(TriggerFileTest, WhatIsNoFileOrdersNothing) {
  ASSERT_EQ(mkfifo((folder_ / "run.db.trigger").c_str(), 0600), 0);
  EXPECT_EQ(file_.Read(0), Order::kNone);
}

}  // namespace
}  // namespace traceinject
