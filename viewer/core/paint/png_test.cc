// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/png.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "viewer/core/paint/testing/read_png.h"

namespace traceinject {
namespace {

class PngTest : public testing::Test {
 protected:
  ~PngTest() override { std::filesystem::remove(path_); }

  const std::string path_ =
      std::filesystem::temp_directory_path() / ("png_test." + std::to_string(getpid()) + ".png");
};

TEST_F(PngTest, IsReadAsItWasWritten) {
  Image image{.width_px = 30, .height_px = 2, .rgb = {}};
  for (int i = 0; i < 3 * 30 * 2; ++i) image.rgb.push_back(static_cast<std::uint8_t>(i));
  ASSERT_TRUE(WritePng(path_, image).ok());
  const Result<Image> read = ReadPng(path_);
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read.value().width_px, 30);
  EXPECT_EQ(read.value().height_px, 2);
  EXPECT_EQ(read.value().rgb, image.rgb);
}

TEST_F(PngTest, ALinkIsReplacedAndNotFollowed) {
  const std::string victim = path_ + ".victim";
  ASSERT_TRUE(WritePng(victim, {1, 1, {0, 0, 0}}).ok());
  std::filesystem::create_symlink(victim, path_);
  ASSERT_TRUE(WritePng(path_, {2, 1, {1, 2, 3, 4, 5, 6}}).ok());
  EXPECT_FALSE(std::filesystem::is_symlink(path_));
  const Result<Image> kept = ReadPng(victim);
  std::filesystem::remove(victim);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept.value().width_px, 1);
}

TEST_F(PngTest, WhatCannotBeReadOrWrittenIsAnError) {
  EXPECT_FALSE(WritePng("/nonexistent/a.png", {1, 1, {0, 0, 0}}).ok());
  EXPECT_FALSE(ReadPng("/nonexistent/a.png").ok());
}

}  // namespace
}  // namespace traceinject
