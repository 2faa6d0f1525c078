// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/object_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "injector/stacks/loaded_code.h"
#include "machine/proc_files.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

extern "C" [[gnu::noinline]] void function_with_a_name() { __asm__ volatile(""); }

std::string ReadAll(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class ObjectFileTest : public testing::Test {
 protected:
  ObjectFile Stored(const std::string& bytes) const {
    std::ofstream(folder_ / "object", std::ios::binary) << bytes;
    return ObjectFile(folder_ / "object");
  }

  const TemporaryFolder folder_;
};

// Where this program's own code has it.
std::uint64_t AddressOf(void (*function)()) {
  LoadedCode loaded;
  EXPECT_TRUE(loaded.Refresh(ReadTextFile("/proc/self/maps").value_or(""), ProcessMemory()));
  LoadedCode::Code code;
  EXPECT_TRUE(loaded.Find(reinterpret_cast<std::uint64_t>(function), &code));
  return code.address;
}

TEST_F(ObjectFileTest, NamesOfItsFunctions) {
  const ObjectFile object("/proc/self/exe");
  ASSERT_TRUE(object.has_parts());
  const std::uint64_t address = AddressOf(function_with_a_name);
  EXPECT_EQ(object.NamesOf({1, address, address}),
            (std::vector<std::string>{"", "function_with_a_name", "function_with_a_name"}));
  EXPECT_TRUE(object.NamesOf({}).empty());
}

TEST_F(ObjectFileTest, AnotherFileOfItsName) {
  const std::string whole = ReadAll("/proc/self/exe");
  const ObjectFile object = Stored(whole);
  const std::uint64_t address = AddressOf(function_with_a_name);
  EXPECT_EQ(object.NamesOf({address})[0], "function_with_a_name");
  Stored(whole + "x");
  EXPECT_EQ(object.NamesOf({address})[0], "");
}

TEST_F(ObjectFileTest, WhatIsNoObject) {
  EXPECT_FALSE(ObjectFile("/").has_parts());
  EXPECT_FALSE(ObjectFile("/does/not/exist").has_parts());
  EXPECT_FALSE(ObjectFile("").has_parts());
  EXPECT_FALSE(Stored("").has_parts());
  EXPECT_FALSE(Stored("#!/bin/sh\n" + std::string(1000, ' ')).has_parts());
  EXPECT_FALSE(Stored(std::string("\x7f"
                                  "ELF\x01\x01\x01",
                                  7) +
                      std::string(1000, '\1'))
                   .has_parts());
  // Nobody writes to it: to read it would never end.
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(ObjectFile(folder_ / "pipe").has_parts());
}

TEST_F(ObjectFileTest, FilesThatAreCutOrDamaged) {
  const std::string whole = ReadAll("/proc/self/exe");
  ASSERT_GT(whole.size(), 10'000U);
  const std::uint64_t address = AddressOf(function_with_a_name);
  const std::vector<std::uint64_t> wanted{1, address, UINT64_MAX};
  std::mt19937 random(1);
  for (const std::size_t bytes :
       {0UL, 63UL, 64UL, 100UL, 1000UL, 5000UL, whole.size() / 2, whole.size() - 1})
    EXPECT_EQ(Stored(whole.substr(0, bytes)).NamesOf(wanted).size(), 3U) << bytes;
  for (int i = 0; i < 30; ++i) {
    std::string broken = whole;
    for (int change = 0; change < 20; ++change) broken[random() % 64] = static_cast<char>(random());
    std::memcpy(broken.data(), whole.data(), 7);  // still an object
    EXPECT_EQ(Stored(broken).NamesOf(wanted).size(), 3U);
  }
}

TEST_F(ObjectFileTest, CountsThatAreTooLarge) {
  std::string bytes(4096, '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phoff = sizeof header;
  header.e_phnum = 0xffff;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = 1024;
  header.e_shnum = 2;
  Elf64_Phdr part{};
  part.p_type = PT_LOAD;
  part.p_filesz = UINT64_MAX;
  Elf64_Shdr symbols{}, names{};
  symbols.sh_type = SHT_SYMTAB;
  symbols.sh_entsize = sizeof(Elf64_Sym);
  symbols.sh_size = UINT64_MAX;
  symbols.sh_link = 1;
  names.sh_size = UINT64_MAX;
  names.sh_offset = UINT64_MAX - 1;
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + header.e_phoff, &part, sizeof part);
  std::memcpy(bytes.data() + 1024, &symbols, sizeof symbols);
  std::memcpy(bytes.data() + 1024 + sizeof symbols, &names, sizeof names);
  const ObjectFile object = Stored(bytes);
  EXPECT_TRUE(object.has_parts());
  EXPECT_EQ(object.NamesOf({1, 2}), (std::vector<std::string>(2)));
  std::uint64_t address = 0;
  EXPECT_TRUE(object.AddressAt(5, &address));
  EXPECT_FALSE(ObjectFile::Access(object).Read(1 << 20, &address, sizeof address));
  EXPECT_FALSE(ObjectFile::Access(object).Read(UINT64_MAX - 2, &address, sizeof address));
}

}  // namespace
}  // namespace traceinject
