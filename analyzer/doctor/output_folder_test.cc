// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/output_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

TEST(OutputFolder, WhatIsKnownOfIt) {
  const TemporaryFolder folder;
  const std::string known = std::filesystem::canonical(folder.path()).string();
  EXPECT_EQ(KnownFolder(known + "/run.db"), known);
  EXPECT_EQ(KnownFolder(known + "/%h/run.db"), known);
  EXPECT_EQ(KnownFolder(known + "/run%r.db"), known);
  EXPECT_EQ(KnownFolder(known + "/to/be/made/run.db"), known);
  EXPECT_EQ(KnownFolder("run.db"), std::filesystem::current_path().string());
  EXPECT_EQ(KnownFolder("/run.db"), "/");
}

TEST(OutputFolder, AFolderThatCanBeWrittenTo) {
  const TemporaryFolder folder;
  const Checklist lines = CheckOutputFolder(folder / "run.db", "");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].status, CheckStatus::kOk) << lines[0].text;
  EXPECT_NE(lines[2].text.find(" free"), std::string::npos);
}

TEST(OutputFolder, AFolderOfTheKernels) {
  // Nothing can be made in it, not even by root.
  const Checklist lines = CheckOutputFolder("/proc/self/run.db", "");
  EXPECT_TRUE(HasFailed(lines));
}

}  // namespace
}  // namespace traceinject
