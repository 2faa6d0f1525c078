// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/buffer_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

namespace traceinject {
namespace {

// Never destroyed, as that of the library: CUPTI may hold its buffers to the end.
BufferPool* NewPool() {
  static auto* pools = new std::vector<BufferPool*>;
  return pools->emplace_back(new BufferPool);
}

TEST(BufferPoolTest, GivesDistinctBuffersUpToItsLimit) {
  BufferPool* pool = NewPool();
  pool->SetLimit(3 * static_cast<std::int64_t>(BufferPool::kBufferBytes));
  std::set<std::uint8_t*> taken;
  for (int i = 0; i < 3; ++i) taken.insert(pool->Take());
  EXPECT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken.count(nullptr), 0U);
  EXPECT_EQ(pool->Take(), nullptr);
  pool->Return(*taken.begin());
  EXPECT_EQ(pool->Take(), *taken.begin());
  std::uint8_t foreign = 0;
  EXPECT_FALSE(pool->Owns(&foreign));
  EXPECT_TRUE(pool->Owns(*taken.begin()));
}

TEST(BufferPoolTest, TellsTheFlushThatTheOldestIsOf) {
  BufferPool* pool = NewPool();
  EXPECT_EQ(pool->OldestFlushNs(), BufferPool::kNone);
  pool->MarkFlush(1000);
  std::uint8_t* first = pool->Take();
  pool->MarkFlush(2000);
  std::uint8_t* second = pool->Take();
  EXPECT_EQ(pool->OldestFlushNs(), 1000);
  pool->Return(first);
  EXPECT_EQ(pool->OldestFlushNs(), 2000);
  pool->Return(second);
  EXPECT_EQ(pool->OldestFlushNs(), BufferPool::kNone);
}

TEST(BufferPoolTest, AllocatesABufferLaterThatThereWasNoMemoryFor) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's malloc ends the program where there is no memory";
#endif
  BufferPool* pool = NewPool();
  constexpr int kMany = 64;  // more than malloc may have left
  pool->SetLimit(kMany * static_cast<std::int64_t>(BufferPool::kBufferBytes));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none{1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  int taken = 0;
  for (int i = 0; i < kMany; ++i) taken += pool->Take() != nullptr ? 1 : 0;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_LT(taken, kMany);
  for (; taken < kMany; ++taken) EXPECT_NE(pool->Take(), nullptr);
  EXPECT_EQ(pool->Take(), nullptr);
}

TEST(BufferPoolTest, BuffersThatSomebodyElseFreesAreReplaced) {
  BufferPool* pool = NewPool();
  pool->SetLimit(2 * static_cast<std::int64_t>(BufferPool::kBufferBytes));
  std::uint8_t* lost = pool->Take();
  std::uint8_t* ours = pool->Take();
  pool->Return(ours);
  std::free(lost);
  pool->WriteOff();
  EXPECT_FALSE(pool->Owns(lost));
  EXPECT_TRUE(pool->Owns(ours));
  std::uint8_t* first = pool->Take();
  std::uint8_t* second = pool->Take();
  EXPECT_TRUE(first == ours || second == ours);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(pool->Take(), nullptr);
}

TEST(BufferPoolTest, WhatNobodyHasIsTakenBack) {
  BufferPool* pool = NewPool();
  pool->SetLimit(3 * static_cast<std::int64_t>(BufferPool::kBufferBytes));
  std::uint8_t* lent = pool->Take();
  std::uint8_t* waiting = pool->Take();
  pool->Return(pool->Take());
  pool->Reclaim({waiting});
  std::uint8_t* first = pool->Take();
  std::uint8_t* second = pool->Take();
  EXPECT_TRUE(first == lent || second == lent);
  EXPECT_NE(first, waiting);
  EXPECT_NE(second, waiting);
  EXPECT_EQ(pool->Take(), nullptr) << "one waits";
  pool->Return(waiting);
  EXPECT_EQ(pool->Take(), waiting);
}

TEST(BufferPoolTest, NeverGivesOneBufferTwice) {
  BufferPool* pool = NewPool();
  pool->SetLimit(8 * static_cast<std::int64_t>(BufferPool::kBufferBytes));
  std::vector<std::thread> threads;
  std::atomic<int> clashes{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20'000; ++i) {
        std::uint8_t* buffer = pool->Take();
        if (buffer == nullptr) continue;
        buffer[0] = static_cast<std::uint8_t>(t);
        std::atomic_signal_fence(std::memory_order_seq_cst);  // really reads it again
        if (buffer[0] != t) ++clashes;
        pool->Return(buffer);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
}

}  // namespace
}  // namespace traceinject
