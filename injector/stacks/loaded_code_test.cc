// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/loaded_code.h"

#include <gtest/gtest.h>

#include "machine/proc_files.h"

namespace traceinject {
namespace {

constexpr char kTwo[] =
    "1000-2000 r-xp 00000000 00:00 0 \n"
    "3000-4000 rw-p 00000000 00:00 0 \n"
    "5000-7000 r-xp 00000000 00:00 0 \n";

bool IsCode(const LoadedCode& loaded, std::uint64_t address) {
  LoadedCode::Code code;
  return loaded.Find(address, &code);
}

TEST(LoadedCodeTest, OnlyWhatMayRunIsCode) {
  LoadedCode loaded;
  EXPECT_FALSE(IsCode(loaded, 0x1000));
  EXPECT_TRUE(loaded.Refresh(kTwo, ProcessMemory()));
  for (const std::uint64_t address : {0x1000, 0x1fff, 0x5000, 0x6fff})
    EXPECT_TRUE(IsCode(loaded, address)) << address;
  for (const std::uint64_t address : {0x0, 0xfff, 0x2000, 0x3000, 0x4fff, 0x7000})
    EXPECT_FALSE(IsCode(loaded, address)) << address;
  EXPECT_TRUE(loaded.Refresh(kTwo, ProcessMemory()));
}

TEST(LoadedCodeTest, WhatWasUnloadedIsKnownUntilOtherCodeIsThere) {
  LoadedCode loaded;
  loaded.Refresh(kTwo, ProcessMemory());
  EXPECT_TRUE(loaded.Refresh("5000-7000 r-xp 00000000 00:00 0 \n", ProcessMemory()));
  EXPECT_TRUE(IsCode(loaded, 0x1800));
  EXPECT_TRUE(loaded.Refresh("2000-3000 r-xp 00000000 00:00 0 \n", ProcessMemory()));
  EXPECT_TRUE(IsCode(loaded, 0x1800));
  EXPECT_TRUE(IsCode(loaded, 0x6000));
  EXPECT_TRUE(IsCode(loaded, 0x2800));
  EXPECT_FALSE(loaded.Refresh("1800-2000 r-xp 00000000 00:00 0 \n", ProcessMemory()));
  EXPECT_FALSE(IsCode(loaded, 0x1400));
  EXPECT_TRUE(IsCode(loaded, 0x1800));
}

TEST(LoadedCodeTest, FilesByTheirOwnAddresses) {
  LoadedCode loaded;
  const auto maps = ReadTextFile("/proc/self/maps");
  ASSERT_TRUE(maps.has_value());
  EXPECT_TRUE(loaded.Refresh(*maps, ProcessMemory()));
  LoadedCode::Code code;
  ASSERT_TRUE(loaded.Find(reinterpret_cast<std::uint64_t>(&IsCode), &code));
  ASSERT_NE(code.object, nullptr);
  EXPECT_EQ(code.object->path(), ReadLinkText("/proc/self/exe"));
  EXPECT_NE(code.object->NamesOf({code.address})[0].find("IsCode"), std::string::npos);
  // The file that a mapping names is not what is mapped there.
  std::string line = maps->substr(0, maps->find('\n'));
  line.replace(line.find(' ') + 3, 1, "x");
  LoadedCode other;
  other.Refresh("1000-2000 r-xp 00000000 " + line.substr(line.find(' ', line.find(' ') + 15) + 1),
                ProcessMemory());
  ASSERT_TRUE(other.Find(0x1800, &code));
  EXPECT_EQ(code.object, nullptr);
}

TEST(LoadedCodeTest, TextsThatAreNoMappings) {
  LoadedCode loaded;
  for (const char* text : {"", "\n\n", "x", "2000-1000 r-xp 0 0:0 0\n", "1-", "- - -\n"})
    loaded.Refresh(text, ProcessMemory());
  EXPECT_FALSE(IsCode(loaded, 0x1800));
}

}  // namespace
}  // namespace traceinject
