// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace traceinject {
namespace {

class MemoryBlocksTest : public testing::Test {
 protected:
  static constexpr std::size_t kPage = 4096, kPages = 4;

  MemoryBlocksTest() {
    pages_ = static_cast<char*>(
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (std::size_t i = 0; i < kPages; ++i) Value(i) = static_cast<int>(i);
  }
  ~MemoryBlocksTest() override { munmap(pages_, kPages * kPage); }
  int& Value(std::size_t page) { return *reinterpret_cast<int*>(pages_ + page * kPage); }
  std::uint64_t At(std::size_t page) { return reinterpret_cast<std::uint64_t>(&Value(page)); }
  int Read(std::size_t page) {
    int value = -1;
    return blocks_.Read(At(page), &value) ? value : -1;
  }

  char* pages_ = nullptr;
  const ProcessMemory memory_;
  MemoryBlocks<3, kPage> blocks_{&memory_};
};

TEST_F(MemoryBlocksTest, WhatIsHeldIsNotReadAgain) {
  EXPECT_EQ(Read(1), 1);
  Value(1) = 10;
  EXPECT_EQ(Read(1), 1);
  blocks_.Refresh();
  Value(1) = 100;
  EXPECT_EQ(Read(1), 10);
  blocks_.Forget();
  EXPECT_EQ(Read(1), 100);
}

TEST_F(MemoryBlocksTest, MoreThanFit) {
  for (std::size_t i = 0; i < kPages; ++i) EXPECT_EQ(Read(i), static_cast<int>(i));
  std::array<std::uint64_t, kPages> held;
  EXPECT_EQ(blocks_.Held(held.data(), held.size()), 3U);
  EXPECT_EQ(blocks_.Held(held.data(), 2), 2U);
  blocks_.Refresh();
  for (std::size_t i = 0; i < kPages; ++i) EXPECT_EQ(Read(i), static_cast<int>(i));
}

TEST_F(MemoryBlocksTest, LoadsUpToWhatIsNotThere) {
  const std::array<std::uint64_t, 3> wanted = {At(3), At(2), At(0)};
  mprotect(pages_ + 2 * kPage, kPage, PROT_NONE);
  blocks_.Load(wanted.data(), wanted.size());
  std::array<std::uint64_t, 3> held;
  ASSERT_EQ(blocks_.Held(held.data(), held.size()), 1U);
  EXPECT_EQ(held[0], At(3));
  EXPECT_EQ(Read(2), -1);
  EXPECT_EQ(Read(0), 0);
  blocks_.Load(wanted.data(), 0);
  EXPECT_EQ(blocks_.Held(held.data(), held.size()), 0U);
}

}  // namespace
}  // namespace traceinject
