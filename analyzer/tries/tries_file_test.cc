// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/tries_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

proto::Tries TriesToKeep() {
  proto::Tries tries;
  tries.add_command("python");
  tries.mutable_as_is()->set_step_ns(100);
  proto::TriedFix& fix = *tries.add_fixes();
  fix.set_tried("num_workers=4");
  fix.set_label("dataloader");
  fix.set_outcome("measured");
  fix.set_predicted_ns(40);
  fix.set_predicted_low_ns(35);
  fix.set_predicted_high_ns(42);
  fix.set_saved_ns(45);
  fix.set_saved_low_ns(41);
  fix.set_saved_high_ns(49);
  proto::TriedFix& other = *tries.add_fixes();
  other.set_tried("compile=default");
  other.set_outcome("out of memory");
  return tries;
}

TEST(TriesFileTest, KeepsWhatWasForetoldAndMeasured) {
  const TemporaryFolder folder;
  const std::string below = folder / "job/tries";
  std::filesystem::create_directories(below);
  const std::string path = below + "/" + kTriesFile;
  ASSERT_TRUE(AppendTries(path, TriesToKeep(), 1).ok());
  ASSERT_TRUE(AppendTries(path, TriesToKeep(), 2).ok());
  const auto tries = ReadTries(folder.path().string());
  ASSERT_TRUE(tries.ok()) << tries.error();
  ASSERT_EQ(tries.value().size(), 2u) << "those with a prediction";
  const ScoredTry& one = tries.value().front();
  EXPECT_EQ(one.tried, "num_workers=4");
  EXPECT_DOUBLE_EQ(one.error(), 0.05);
  EXPECT_FALSE(one.holds());
  EXPECT_TRUE(one.agrees());
  EXPECT_DOUBLE_EQ(MiddleError(tries.value()), 0.05);
}

TEST(TriesFileTest, AFolderWithoutTriesHasNone) {
  const TemporaryFolder folder;
  const auto tries = ReadTries(folder.path().string());
  ASSERT_TRUE(tries.ok());
  EXPECT_TRUE(tries.value().empty());
  EXPECT_FALSE(ReadTries(folder / "missing.db").ok());
  std::ofstream(folder / "empty.db").flush();
  const auto empty = ReadTries(folder / "empty.db");
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.error().find("not a file that analyze try wrote"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
