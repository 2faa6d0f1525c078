// SPDX-License-Identifier: Apache-2.0
// What a reader of others makes of the files is seen in the test of the program.
#include "viewer/core/png.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

constexpr std::size_t kHeaderAt = 16, kColourTypeAt = 25;

Image Coloured(int colours) {
  Image image{.width_px = 100, .height_px = 10, .rgb = {}};
  for (int i = 0; i < 1000; ++i) {
    const int colour = i % colours;
    image.rgb.insert(image.rgb.end(), {static_cast<std::uint8_t>(colour / 256),
                                       static_cast<std::uint8_t>(colour % 256), 7});
  }
  return image;
}

TEST(Png, HasSignatureSizeAndEnd) {
  const std::string png = EncodePng(Coloured(3));
  EXPECT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(png.substr(kHeaderAt, 8), std::string("\0\0\0\x64\0\0\0\x0a", 8));
  EXPECT_TRUE(png.ends_with("IEND\xae\x42\x60\x82")) << "its checksum is always the same";
}

TEST(Png, FewColoursHaveAPalette) {
  EXPECT_EQ(EncodePng(Coloured(256))[kColourTypeAt], 3);
  EXPECT_EQ(EncodePng(Coloured(257))[kColourTypeAt], 2);
  EXPECT_LT(EncodePng(Coloured(2)).size(), EncodePng(Coloured(1000)).size());
}

TEST(Png, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(WritePng("/nonexistent/a.png", Coloured(2)).ok());
}

}  // namespace
}  // namespace traceinject
