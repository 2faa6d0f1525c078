// SPDX-License-Identifier: Apache-2.0
// What the comparison of pictures lets pass and what it does not: differences are planted into the
// golden image of a whole run.
#include "tests/golden_images/picture.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/core/paint/testing/read_png.h"

namespace traceinject {
namespace {

class PictureTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Image> read = ReadPng(GOLDEN_IMAGE);
    ASSERT_TRUE(read.ok()) << read.error();
    golden_ = changed_ = read.value();
  }

  std::uint8_t* Pixel(int x, int y) { return &changed_.rgb[Offset(x, y)]; }
  const std::uint8_t* Golden(int x, int y) const { return &golden_.rgb[Offset(x, y)]; }
  std::size_t Offset(int x, int y) const {
    return 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(golden_.width_px) +
                static_cast<std::size_t>(x));
  }
  void FillWithCorner(int left, int top, int right, int bottom) {
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) std::copy_n(Golden(left, top), 3, Pixel(x, y));
    }
  }
  // What is in the box goes so many pixels to the right and down.
  void Move(int left, int top, int right, int bottom, int by_x, int by_y) {
    FillWithCorner(left, top, right + by_x, bottom + by_y);
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        std::copy_n(Golden(x, y), 3, Pixel(x + by_x, y + by_y));
      }
    }
  }
  std::size_t Cells() const { return Compare(golden_, changed_).cells; }
  bool Accepted() const { return Compare(golden_, changed_).accepted(); }

  Image golden_, changed_;
};

// The title of the verdict in the golden image.
constexpr int kLabelLeft = 8, kLabelTop = 432, kLabelRight = 190, kLabelBottom = 450;

TEST_F(PictureTest, ThePictureIsTheSameAsItself) { EXPECT_EQ(Cells(), 0U); }

TEST_F(PictureTest, WhatIsStoredIsTheSame) {
  changed_ = ToStore(golden_);
  EXPECT_EQ(Cells(), 0U);
}

TEST_F(PictureTest, WhatDriversRoundDifferentlyPasses) {
  for (std::size_t i = 0; i < changed_.rgb.size(); ++i) {
    const int rounded = changed_.rgb[i] + static_cast<int>(i * 7919 % 13) - 6;
    changed_.rgb[i] = static_cast<std::uint8_t>(std::clamp(rounded, 0, 255));
  }
  EXPECT_EQ(Cells(), 0U);
}

TEST_F(PictureTest, ADigitPasses) {
  FillWithCorner(kLabelLeft, kLabelTop, kLabelLeft + 9, kLabelBottom);
  EXPECT_GT(Cells(), 0U);
  EXPECT_TRUE(Accepted()) << Cells();
}

TEST_F(PictureTest, ALabelThatIsMissingFails) {
  FillWithCorner(kLabelLeft, kLabelTop, kLabelRight, kLabelBottom);
  EXPECT_FALSE(Accepted()) << Cells();
}

TEST_F(PictureTest, ALabelThatMovedByThreePixelsFails) {
  Move(kLabelLeft, kLabelTop, kLabelRight, kLabelBottom, 3, 0);
  EXPECT_FALSE(Accepted()) << Cells();
}

TEST_F(PictureTest, ARowThatIsMissingFails) {
  // All below moves up by the height of a row.
  const int row_px = 20;
  for (int y = kLabelTop; y + row_px < golden_.height_px; ++y) {
    std::copy_n(Golden(0, y + row_px), 3 * golden_.width_px, Pixel(0, y));
  }
  EXPECT_FALSE(Accepted()) << Cells();
}

TEST_F(PictureTest, AnotherColorFails) {
  std::replace(changed_.rgb.begin(), changed_.rgb.end(), golden_.rgb.front(),
               static_cast<std::uint8_t>(golden_.rgb.front() ^ 0x40));
  EXPECT_FALSE(Accepted()) << Cells();
}

TEST_F(PictureTest, AnotherSizeFails) {
  changed_.width_px -= 1;
  EXPECT_FALSE(Accepted());
}

TEST_F(PictureTest, TheDifferenceIsDrawnWhereItIs) {
  FillWithCorner(kLabelLeft, kLabelTop, kLabelRight, kLabelBottom);
  const Image drawn = DrawDifference(golden_, changed_);
  std::size_t red = 0;
  for (int y = 0; y < drawn.height_px; ++y) {
    for (int x = 0; x < drawn.width_px; ++x) {
      if (drawn.rgb[Offset(x, y) + 1] != 0) continue;
      ++red;
      EXPECT_GE(x, kLabelLeft - kCellPx);
      EXPECT_LT(x, kLabelRight + kCellPx);
    }
  }
  EXPECT_GE(red, Cells() * kCellPx);
}

}  // namespace
}  // namespace traceinject
