// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/recent_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "machine/testing/temporary_folder.h"
#include "viewer/core/session/small_file.h"

namespace traceinject {
namespace {

using Strings = std::vector<std::string>;

TEST(RecentFilesTest, TheLastOneComesFirstAlsoInTheNextWindow) {
  const TemporaryFolder folder;
  const std::string file = folder / "new/recent";
  {
    RecentFiles recent(file);
    EXPECT_TRUE(recent.paths().empty());
    recent.Add("/data/a.db");
    recent.Add("/data/b.db");
    recent.Add("/data/./a.db");
    EXPECT_EQ(recent.paths(), (Strings{"/data/a.db", "/data/b.db"}));
  }
  EXPECT_EQ(RecentFiles(file).paths(), (Strings{"/data/a.db", "/data/b.db"}));
}

TEST(RecentFilesTest, PathsAreAbsolute) {
  const TemporaryFolder folder;
  RecentFiles recent(folder / "recent");
  recent.Add("run.db");
  EXPECT_EQ(recent.paths(), Strings{(std::filesystem::current_path() / "run.db").string()});
}

TEST(RecentFilesTest, WhatAnotherWindowAddedStays) {
  const TemporaryFolder folder;
  RecentFiles one(folder / "recent");
  {
    RecentFiles other(folder / "recent");
    other.Add("/other.db");
  }
  one.Add("/one.db");
  one.Wait();
  EXPECT_EQ(RecentFiles(folder / "recent").paths(), (Strings{"/one.db", "/other.db"}));
}

TEST(RecentFilesTest, TheOldestOnesGo) {
  const TemporaryFolder folder;
  RecentFiles recent(folder / "recent");
  for (int i = 0; i < 15; ++i) recent.Add("/run" + std::to_string(i));
  ASSERT_EQ(recent.paths().size(), RecentFiles::kMax);
  EXPECT_EQ(recent.paths().front(), "/run14");
  EXPECT_EQ(recent.paths().back(), "/run5");
}

TEST(RecentFilesTest, NothingIsKeptWithoutAPathOrOfAStrangeName) {
  RecentFiles nowhere("");
  nowhere.Add("/a.db");
  EXPECT_TRUE(nowhere.paths().empty());
  const TemporaryFolder folder;
  RecentFiles recent(folder / "recent");
  recent.Add("/two\nlines.db");
  EXPECT_TRUE(recent.paths().empty());
}

TEST(RecentFilesTest, TheFileIsWhereStateBelongs) {
  const char* const before = getenv("XDG_STATE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(RecentFilesPath(), "/state/traceview/recent");
  unsetenv("XDG_STATE_HOME");
  const char* const home = getenv("HOME");
  if (home != nullptr && *home == '/') {
    EXPECT_EQ(RecentFilesPath(), std::string(home) + "/.local/state/traceview/recent");
  }
  if (before != nullptr) setenv("XDG_STATE_HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace traceinject
