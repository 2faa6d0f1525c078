// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/background_load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

void WriteKernels(const std::string& path, int count) {
  RunDbFixture file(path, {.rank = 0, .end_ns = 10'000 * kUs});
  for (int i = 0; i < count; ++i) file.AddKernel({.start_ns = i * 10 * kUs, .dur_ns = 5 * kUs});
  file.Close();
}

// The next thing that is handed over; fails after a minute.
LoadResult Next(BackgroundLoad& load) {
  for (int i = 0; i < 6'000; ++i) {
    if (auto result = load.Take()) return std::move(*result);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return Error{"nothing came"};
}

void WaitFor(const BackgroundLoad& load) {
  while (!load.done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::size_t Operations(const LoadResult& loaded) {
  return loaded.value()->run.ranks.at(0).devices.at(0).ops.size();
}

TEST(BackgroundLoad, ASmallRunComesAtOnce) {
  const TemporaryFolder folder;
  WriteKernels(folder / "run.db", 100);
  BackgroundLoad load({folder / "run.db"}, {});
  const LoadResult all = Next(load);
  ASSERT_TRUE(all.ok()) << all.error();
  EXPECT_EQ(Operations(all), 100U);
  EXPECT_TRUE(all.value()->rows.gaps.empty());
  WaitFor(load);
  EXPECT_FALSE(load.Take().has_value());
  EXPECT_FALSE(load.reading());
}

TEST(BackgroundLoad, TheQuickLookSaysWhereItEnds) {
  const TemporaryFolder folder;
  WriteKernels(folder / "run.db", 100);
  LoadOptions quick;
  quick.most_rows = 20;
  const LoadResult look = LoadWithRows({folder / "run.db"}, quick);
  ASSERT_TRUE(look.ok()) << look.error();
  const std::size_t read = Operations(look);
  EXPECT_LT(read, 30U);
  ASSERT_EQ(look.value()->rows.gaps.size(), 1U);
  EXPECT_TRUE(look.value()->rows.gaps[0].being_read);
  EXPECT_EQ(look.value()->rows.gaps[0].start, static_cast<TimeNs>(read) * 10 * kUs);
  EXPECT_EQ(look.value()->rows.gaps[0].end, 10'000 * kUs);
}

TEST(BackgroundLoad, EndsWithAllOfALargeRun) {
  const TemporaryFolder folder;
  WriteKernels(folder / "run.db", 100);
  BackgroundLoad load({folder / "run.db"}, {.follow = false, .quick_look_rows = 20});
  WaitFor(load);
  const LoadResult all = Next(load);
  ASSERT_TRUE(all.ok()) << all.error();
  EXPECT_EQ(Operations(all), 100U);
}

TEST(BackgroundLoad, WhatCannotBeReadIsASentence) {
  const TemporaryFolder folder;
  std::ofstream(folder / "run.db") << "no database";
  BackgroundLoad load({folder / "run.db"}, {});
  const LoadResult result = Next(load);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().find("run.db"), std::string::npos);
}

TEST(BackgroundLoad, FollowsAFileThatGrows) {
  const TemporaryFolder folder;
  WriteKernels(folder / "run.db", 10);
  BackgroundLoad load({folder / "run.db"}, {.follow = true});
  const LoadResult first = Next(load);
  ASSERT_TRUE(first.ok()) << first.error();
  EXPECT_EQ(Operations(first), 10U);
  WriteKernels(folder / "new.db", 3'000);
  std::filesystem::rename(folder / "new.db", folder / "run.db");
  const LoadResult second = Next(load);
  ASSERT_TRUE(second.ok()) << second.error();
  EXPECT_EQ(Operations(second), 3'000U);
  EXPECT_FALSE(load.done());
}

TEST(BackgroundLoad, FollowingBeginsWhenTheFileBecomesARecording) {
  const TemporaryFolder folder;
  std::ofstream(folder / "run.db") << "not yet";
  BackgroundLoad load({folder / "run.db"}, {.follow = true});
  EXPECT_FALSE(Next(load).ok());
  WriteKernels(folder / "new.db", 10);
  std::filesystem::rename(folder / "new.db", folder / "run.db");
  EXPECT_TRUE(Next(load).ok());
}

TEST(BackgroundLoad, IsBrokenOff) {
  const TemporaryFolder folder;
  WriteKernels(folder / "run.db", 40'000);
  std::atomic<bool> stop = true;
  LoadOptions options;
  options.stop = &stop;
  const LoadResult stopped = LoadWithRows({folder / "run.db"}, options);
  ASSERT_FALSE(stopped.ok());
  EXPECT_NE(stopped.error().find("canceled"), std::string::npos);

  BackgroundLoad load({folder / "run.db"}, {.follow = true});
  load.Stop();
  WaitFor(load);  // though it follows
}

TEST(FilesStamp, ChangesWithTheFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(FilesStamp({folder / "run.db"}), "");
  WriteKernels(folder / "run.rank00000.db", 1);
  const std::string one = FilesStamp({folder / "run.db"});
  EXPECT_NE(one, "");
  EXPECT_EQ(FilesStamp({folder / "run.db"}), one);
  WriteKernels(folder / "run.rank00001.db", 1);
  const std::string two = FilesStamp({folder / "run.db"});
  EXPECT_NE(two, one);
  std::ofstream(folder / "run.rank00001.db-wal") << "x";
  EXPECT_NE(FilesStamp({folder / "run.db"}), two);
}

}  // namespace
}  // namespace traceinject
