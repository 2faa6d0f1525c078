// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/image_place.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace traceinject {
namespace {

constexpr std::string_view kMaps =
    "55d0c0000000-55d0c0001000 r--p 00000000 fe:00 1835 /usr/bin/python3.11\n"
    "55d0c0001000-55d0c0400000 r-xp 00001000 fe:00 1835 /usr/bin/python3.11\n"
    "55d0c0400000-55d0c0500000 rw-p 00000000 00:00 0 \n"
    "7f0000000000-7f0000001000 r--p 00000000 fe:00 99   /a name with spaces.so (deleted)\n"
    "7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0                          [stack]\n";

TEST(ImagePlaceTest, LinesOfMaps) {
  const auto mapped = ParseMapsLine(kMaps.substr(0, kMaps.find('\n')));
  ASSERT_TRUE(mapped.has_value());
  EXPECT_EQ(mapped->start, 0x55d0c0000000U);
  EXPECT_EQ(mapped->end, 0x55d0c0001000U);
  EXPECT_EQ(mapped->file, "fe:00 1835");
  EXPECT_EQ(ParseMapsLine("1000-2000 rw-p 00000000 00:00 0 ")->file, "");
  for (const char* line : {"", "x", "1000", "1000-", "1000-2000", "zz-2000 r--p 0 0:0 1"})
    EXPECT_EQ(ParseMapsLine(line).value_or(MappedFile()).file, "") << line;
}

TEST(ImagePlaceTest, TheFirstPartOfAFile) {
  EXPECT_EQ(FindMapped(kMaps, "fe:00 1835"), 0x55d0c0000000U);
  EXPECT_EQ(FindMapped(kMaps, "fe:00 99"), 0x7f0000000000U);
  EXPECT_EQ(FindMapped(kMaps, "fe:00 183"), std::nullopt);
  EXPECT_EQ(FindMapped(kMaps, ""), std::nullopt);
}

TEST(ImagePlaceTest, AForkedProcessHasItWhereThisOneHasIt) {
  static int zeros = 0;
  const ImagePlace image(reinterpret_cast<std::uint64_t>(&zeros));
  EXPECT_EQ(image.ShiftIn(getpid()), 0);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_EQ(image.ShiftIn(child), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(image.ShiftIn(child), std::nullopt) << "it is gone";
}

}  // namespace
}  // namespace traceinject
