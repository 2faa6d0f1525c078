// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/frame_walk.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace traceinject {
namespace {

// Frames of 3.12 in memory of our own: the outermost is that of C code.
class FrameWalkTest : public testing::Test {
 protected:
  struct Frame {
    std::uint64_t code = 0, previous = 0, others[5] = {}, instruction = 0;
    std::uint32_t top = 0;
    std::uint16_t return_offset = 0;
    std::uint8_t owner = 0, padding = 0;
  };

  FrameWalkTest() {
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      frames_[i].code = kCode;
      frames_[i].previous = i == 0 ? 0 : AddressOf(i - 1);
      frames_[i].instruction = kCode + layout_.code_instructions + 2 * i;
    }
    frames_[0].owner = 3;
  }
  std::uint64_t AddressOf(std::size_t i) const {
    return reinterpret_cast<std::uint64_t>(&frames_[i]);
  }
  ChainEnd Read(std::size_t innermost, std::vector<ChainFrame>* chain, std::size_t most = 100) {
    std::size_t count = 0;
    chain->resize(most);
    blocks_.Forget();
    const ChainEnd end =
        ReadChain(layout_, &blocks_, {AddressOf(innermost), caller_}, chain->data(), most, &count);
    chain->resize(count);
    return end;
  }
  static std::size_t Unstable(const std::vector<ChainFrame>& first,
                              const std::vector<ChainFrame>& second) {
    return CountUnstable(first.data(), first.size(), second.data(), second.size());
  }

  static constexpr std::uint64_t kCode = 0x10000;
  const PythonLayout layout_ = *LayoutOfVersion(12);
  const ProcessMemory memory_;
  MemoryBlocks<4> blocks_{&memory_};
  std::array<Frame, 6> frames_;
  std::uint64_t caller_ = ChainTop::kUnknown;
  std::vector<ChainFrame> first_, second_;
};

TEST_F(FrameWalkTest, FollowsTheCallers) {
  ASSERT_EQ(Read(5, &first_), ChainEnd::kOutermost);
  ASSERT_EQ(first_.size(), 6U);
  EXPECT_EQ(OffsetOfInstruction(layout_, first_[0]), 10);
  EXPECT_TRUE(first_[4].is_python);
  EXPECT_FALSE(first_[5].is_python);
  EXPECT_EQ(Read(5, &first_, 3), ChainEnd::kCut);
  EXPECT_EQ(first_.size(), 3U);
}

TEST_F(FrameWalkTest, AChainThatEndsWhereNoneCanIsLost) {
  frames_[2].previous = 0;  // a generator that gave its value
  EXPECT_EQ(Read(5, &first_), ChainEnd::kLost);
  frames_[2].previous = 8;
  EXPECT_EQ(Read(5, &first_), ChainEnd::kLost) << "a bad address";
  frames_[2].previous = AddressOf(2);
  EXPECT_EQ(Read(5, &first_), ChainEnd::kLost) << "it calls itself";
  frames_[2].previous = AddressOf(1);
  frames_[3].instruction = 0;
  EXPECT_EQ(Read(5, &first_), ChainEnd::kLost) << "an instruction of other code";
}

TEST_F(FrameWalkTest, AFrameThatEndedIsNotWhereAThreadIsAboutToRun) {
  frames_[3].owner = 3;  // C code between 2 and 4
  caller_ = AddressOf(2);
  EXPECT_EQ(Read(5, &first_), ChainEnd::kOutermost);
  caller_ = AddressOf(1);  // that C code has returned
  EXPECT_EQ(Read(5, &first_), ChainEnd::kLost);
  EXPECT_EQ(Read(2, &first_), ChainEnd::kLost);
  caller_ = 0;  // the first of its thread
  EXPECT_EQ(Read(2, &first_), ChainEnd::kOutermost);
}

TEST_F(FrameWalkTest, AnOwnerThatNoneHasIsNoFrame) {
  frames_[0].owner = 4;
  EXPECT_EQ(Read(5, &first_), ChainEnd::kLost);
}

// PyFrameObject of 3.9, as far as it is read.
struct OldFrame {
  std::uint64_t others[3] = {}, previous = 0, code = 0x10000, more[8] = {};
  std::int32_t last = 4, rest[2] = {};
  std::uint8_t executing = 1, padding[3] = {};
};

TEST(OldFrameWalkTest, OneThatDoesNotRunYetIsLeftOut) {
  const PythonLayout layout = *LayoutOfVersion(9);
  const ProcessMemory memory;
  MemoryBlocks<4> blocks(&memory);
  std::array<OldFrame, 3> frames;
  std::array<ChainFrame, 4> chain;
  std::size_t count = 0;
  const auto address = [&](std::size_t i) { return reinterpret_cast<std::uint64_t>(&frames[i]); };
  frames[1].previous = address(0);
  frames[2].previous = address(1);
  const auto read = [&] {
    blocks.Forget();
    return ReadChain(layout, &blocks, {address(2)}, chain.data(), chain.size(), &count);
  };
  ASSERT_EQ(read(), ChainEnd::kOutermost);
  EXPECT_EQ(count, 3U);
  frames[2].executing = 0;
  ASSERT_EQ(read(), ChainEnd::kOutermost);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(chain[0].address, address(1));
  frames[1].executing = 0;
  EXPECT_EQ(read(), ChainEnd::kLost) << "its caller runs";
  frames[2].previous = 0;
  EXPECT_EQ(read(), ChainEnd::kLost) << "a frame that was given back";
}

TEST_F(FrameWalkTest, WhatIsNotMappedIsLost) {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  frames_[1].previous = reinterpret_cast<std::uint64_t>(page);
  EXPECT_EQ(Read(5, &first_), ChainEnd::kLost);
  munmap(page, 4096);
}

TEST_F(FrameWalkTest, WhatTwoReadingsHaveInCommonIsStable) {
  Read(5, &first_);
  Read(5, &second_);
  EXPECT_EQ(Unstable(first_, second_), 0U);
  // The innermost goes on.
  frames_[5].instruction += 2;
  Read(5, &second_);
  EXPECT_EQ(Unstable(first_, second_), 0U);
  // It returned, and its caller goes on.
  frames_[4].instruction += 2;
  Read(4, &second_);
  EXPECT_EQ(Unstable(first_, second_), 1U);
  // And called another function in its place.
  frames_[5].code += 64;
  frames_[5].instruction += 64;
  Read(5, &second_);
  EXPECT_EQ(Unstable(first_, second_), 1U);
  // Nothing is left of it.
  EXPECT_EQ(Unstable(first_, {}), first_.size());
}

}  // namespace
}  // namespace traceinject
