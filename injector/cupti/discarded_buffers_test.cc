// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/discarded_buffers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace traceinject {
namespace {

TEST(DiscardedBuffersTest, NoTwoRequestsShareMemory) {
  auto buffers = std::make_unique<DiscardedBuffers>();
  std::set<std::uint8_t*> out;
  for (std::size_t i = 0; i < DiscardedBuffers::kMax; ++i) out.insert(buffers->Lend());
  EXPECT_EQ(out.size(), DiscardedBuffers::kMax);
  std::uint8_t* shared = buffers->Lend();
  EXPECT_EQ(out.count(shared), 0U);
  EXPECT_EQ(buffers->Lend(), shared) << "there is an end";
  EXPECT_TRUE(buffers->TakeBack(shared));
  for (std::uint8_t* buffer : out) EXPECT_TRUE(buffers->TakeBack(buffer));
  EXPECT_FALSE(buffers->TakeBack(*out.begin())) << "it is somebody else's now";
  auto* foreign = static_cast<std::uint8_t*>(std::malloc(8));
  EXPECT_FALSE(buffers->TakeBack(foreign));
  std::free(foreign);
}

TEST(DiscardedBuffersTest, WhatIsWrittenOffIsNotFreed) {
  auto buffers = std::make_unique<DiscardedBuffers>();
  std::uint8_t* buffer = buffers->Lend();
  buffers->WriteOff();
  EXPECT_FALSE(buffers->TakeBack(buffer));
  std::free(buffer);
  buffers->Lend();
  buffers->Reclaim();
}

TEST(DiscardedBuffersTest, ThreadsFillTheirsAtATime) {
  auto buffers = std::make_unique<DiscardedBuffers>();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&buffers, number] {
      for (int i = 0; i < 200; ++i) {
        std::uint8_t* buffer = buffers->Lend();
        std::memset(buffer, number, DiscardedBuffers::kBytes);
        for (const std::size_t at : {std::size_t{0}, DiscardedBuffers::kBytes - 1})
          EXPECT_EQ(buffer[at], number);
        EXPECT_TRUE(buffers->TakeBack(buffer));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace traceinject
