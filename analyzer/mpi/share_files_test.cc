// SPDX-License-Identifier: Apache-2.0
#include "analyzer/mpi/share_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace traceinject {
namespace {

using Shares = std::vector<std::vector<std::string>>;

TEST(ShareFilesTest, EachProcessItsOwnDisk) {
  EXPECT_EQ(ShareFiles({{{"a", 5, 1}, {"b", 5, 2}}, {{"c", 9, 1}}, {}}),
            (Shares{{"a", "b"}, {"c"}, {}}));
}

TEST(ShareFilesTest, FilesOfOneNameOnTwoDisksAreTwo) {
  EXPECT_EQ(ShareFiles({{{"run.db", 5, 1}}, {{"run.db", 5, 2}}}), (Shares{{"run.db"}, {"run.db"}}));
}

TEST(ShareFilesTest, WhatSeveralSeeIsReadOnceByTheOneWithLeast) {
  const std::vector<SeenFile> shared = {{"a", 1, 1}, {"b", 2, 2}, {"c", 3, 3}, {"d", 6, 4}};
  EXPECT_EQ(ShareFiles({shared, shared}), (Shares{{"d"}, {"a", "b", "c"}}));
  // A file that only the second sees is taken into account.
  std::vector<SeenFile> more = shared;
  more.push_back({"own", 20, 5});
  EXPECT_EQ(ShareFiles({shared, more}), (Shares{{"a", "b", "c", "d"}, {"own"}}));
}

TEST(ShareFilesTest, ManyFilesAreSharedEvenly) {
  std::vector<SeenFile> files;
  for (std::uint64_t i = 0; i < 1024; ++i)
    files.push_back({"run.rank" + std::to_string(i), 1'000 + i % 7, i});
  const Shares shares = ShareFiles({files, files, files, files});
  std::set<std::string> all;
  for (const auto& share : shares) {
    EXPECT_EQ(share.size(), 256U);
    EXPECT_TRUE(std::is_sorted(share.begin(), share.end()));
    all.insert(share.begin(), share.end());
  }
  EXPECT_EQ(all.size(), 1024U);
  EXPECT_EQ(ShareFiles({files}).at(0).size(), 1024U);
}

TEST(ShareFilesTest, FilesAreTheSameAfterAMessage) {
  const std::vector<SeenFile> files = {{"a", 1, 2, -3}, {std::string("\0\n", 2), ~0ULL, 0, 1}};
  const std::string packed = PackFiles(files);
  EXPECT_EQ(UnpackFiles(packed), files);
  for (std::size_t length = 0; length < packed.size(); ++length)
    EXPECT_LT(UnpackFiles(packed.substr(0, length)).size(), 2U);
  EXPECT_TRUE(UnpackFiles(std::string(8, '\xff')).empty());
}

}  // namespace
}  // namespace traceinject
