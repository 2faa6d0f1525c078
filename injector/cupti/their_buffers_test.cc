// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/their_buffers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace traceinject {
namespace {

std::uint8_t g_memory[3];

TheirBuffers::Completed Buffer(int index) { return {nullptr, 0, g_memory + index, 8, 4}; }

// Both of two buffers come back before the client asks for them.
void KeepOneOfTwo(TheirBuffers* buffers) {
  buffers->Lent();
  buffers->Lent();
  buffers->NoteOurFlush();
  EXPECT_TRUE(buffers->CameBack(Buffer(0)));
  EXPECT_FALSE(buffers->CameBack(Buffer(1)));
}

TEST(TheirBuffers, AllThatItAskedForIsHandedOver) {
  TheirBuffers buffers;
  EXPECT_FALSE(buffers.AreOut());
  buffers.Lent();
  EXPECT_TRUE(buffers.AreOut());
  buffers.SetAsked(true);
  EXPECT_TRUE(buffers.CameBack(Buffer(0)));
  EXPECT_FALSE(buffers.AreOut());
  EXPECT_FALSE(buffers.TakeKept());
}

TEST(TheirBuffers, OneThatNoFlushOfOursBroughtBackIsHandedOver) {
  TheirBuffers buffers;
  buffers.NoteOurFlush();
  buffers.Lent();
  EXPECT_TRUE(buffers.CameBack(Buffer(0)));
  EXPECT_FALSE(buffers.AreOut());
}

TEST(TheirBuffers, OfThoseThatComeBackBeforeItTheLastIsKept) {
  TheirBuffers buffers;
  KeepOneOfTwo(&buffers);
  EXPECT_TRUE(buffers.AreOut()) << "the client waits for it";
  const auto kept = buffers.TakeKept();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->buffer, g_memory + 1);
  EXPECT_EQ(kept->valid_bytes, 4U);
  EXPECT_FALSE(buffers.AreOut());
  EXPECT_FALSE(buffers.TakeKept());
}

TEST(TheirBuffers, BesideTheOneThatIsKeptAllOthersAreHandedOver) {
  TheirBuffers buffers;
  buffers.Lent();
  buffers.NoteOurFlush();
  EXPECT_FALSE(buffers.CameBack(Buffer(0)));
  buffers.Lent();
  EXPECT_TRUE(buffers.CameBack(Buffer(1)));
  EXPECT_EQ(buffers.TakeKept()->buffer, g_memory);
}

TEST(TheirBuffers, OneIsKeptHoweverManyThreadsBringThemBack) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 200; ++round) {
    TheirBuffers buffers;
    for (int i = 0; i < kThreads; ++i) buffers.Lent();
    buffers.NoteOurFlush();
    std::atomic<int> handed_over{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] { handed_over += buffers.CameBack(Buffer(0)) ? 1 : 0; });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(handed_over, kThreads - 1);
    ASSERT_TRUE(buffers.TakeKept());
  }
}

TEST(TheirBuffers, WhatIsGoneIsNotWaitedFor) {
  TheirBuffers buffers;
  KeepOneOfTwo(&buffers);
  buffers.Forget();
  EXPECT_FALSE(buffers.AreOut());
  EXPECT_FALSE(buffers.TakeKept());
  EXPECT_TRUE(buffers.CameBack(Buffer(2))) << "one that comes late all the same";
  buffers.Lent();
  EXPECT_TRUE(buffers.AreOut()) << "it was not counted off";
}

}  // namespace
}  // namespace traceinject
