// SPDX-License-Identifier: Apache-2.0
#include "injector/base/ring.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <vector>

namespace traceinject {
namespace {

struct Numbered {
  EventHeader header;
  std::uint64_t number;
};

bool Put(Ring* ring, std::uint64_t number, std::uint32_t extra_bytes = 0) {
  const auto size = static_cast<std::uint32_t>(sizeof(Numbered) + extra_bytes);
  auto* event = static_cast<Numbered*>(ring->Reserve(size));
  if (event == nullptr) return false;
  event->header = {size, 1, 0, 0};
  event->number = number;
  ring->Publish(&g_wake);
  return true;
}

std::vector<std::uint64_t> Take(Ring* ring) {
  std::vector<std::uint64_t> numbers;
  ring->Drain([&](const EventHeader& event) {
    numbers.push_back(reinterpret_cast<const Numbered&>(event).number);
  });
  return numbers;
}

TEST(RingTest, KeepsOrderAcrossTheEnd) {
  Ring* ring = g_rings.OfThisThread();
  ASSERT_NE(ring, nullptr);
  Take(ring);
  std::uint64_t put = 0, taken = 0;
  // Sizes that do not divide the ring, so that padding is needed again and again.
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 700; ++i)
      ASSERT_TRUE(Put(ring, put++, static_cast<std::uint32_t>(8 * (i % 60))));
    for (std::uint64_t number : Take(ring)) ASSERT_EQ(number, taken++);
  }
  EXPECT_EQ(put, taken);
  EXPECT_TRUE(ring->empty());
}

TEST(RingTest, RefusesWhenFullAndGoesOnAfterwards) {
  Ring* ring = g_rings.OfThisThread();
  Take(ring);
  std::uint64_t put = 0;
  while (Put(ring, put)) ++put;
  EXPECT_GE(put, Ring::kBytes / sizeof(Numbered) - 1);
  EXPECT_EQ(Take(ring).size(), put);
  EXPECT_TRUE(Put(ring, 7));
  EXPECT_EQ(Take(ring), std::vector<std::uint64_t>{7});
}

TEST(RingTest, ProducerAndConsumerInTwoThreads) {
  constexpr std::uint64_t kEvents = 300'000;
  std::atomic<Ring*> shared{nullptr};
  std::thread producer([&] {
    Ring* ring = g_rings.OfThisThread();
    shared = ring;
    for (std::uint64_t i = 0; i < kEvents;) {
      if (Put(ring, i, static_cast<std::uint32_t>(8 * (i % 7))))
        ++i;
      else
        std::this_thread::yield();
    }
  });
  while (shared == nullptr) std::this_thread::yield();
  std::uint64_t expected = 0;
  while (expected < kEvents) {
    for (std::uint64_t number : Take(shared)) ASSERT_EQ(number, expected++);
  }
  producer.join();
}

// Threads that begin together, while the list of rings grows: no two get one ring. (A ring that two
// threads got shows at once under ThreadSanitizer, and rarely here.)
TEST(RingSetTest, ThreadsThatBeginTogetherGetRingsOfTheirOwn) {
  constexpr std::size_t kThreads = 16;
  for (int round = 0; round < 20; ++round) {
    std::atomic<std::size_t> ready{0}, done{0};
    std::vector<Ring*> rings(kThreads);
    std::vector<std::thread> threads;
    for (Ring*& ring : rings) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        ring = g_rings.OfThisThread();
        ++done;
        while (done < kThreads) std::this_thread::yield();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set<Ring*>(rings.begin(), rings.end()).size(), kThreads);
    // Not drained: the next threads need new rings.
  }
  g_rings.DrainAll([](int, int, const EventHeader&) {}, [](int) {});
}

TEST(RingSetTest, HandsTheRingOfAnEndedThreadToTheNext) {
  Ring *first = nullptr, *second = nullptr;
  int ended = 0;
  auto drain = [&] {
    g_rings.DrainAll([](int, int, const EventHeader&) {}, [&](int) { ++ended; });
  };
  drain();  // of threads of other tests
  ended = 0;
  std::thread([&] { Put(first = g_rings.OfThisThread(), 1); }).join();
  drain();
  EXPECT_EQ(ended, 1);
  std::thread([&] { second = g_rings.OfThisThread(); }).join();
  EXPECT_EQ(first, second);
  drain();
}

// In a process of its own, where no ring was opened before.
TEST(RingSetDeathTest, AProgramThatHasAllKeysKeepsItsOwn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto look = [] {
    pthread_key_t key;
    while (pthread_key_create(&key, nullptr) == 0) {
    }
    int opened = -1;
    std::thread([&] {
      void* const before = pthread_getspecific(0);
      opened = g_rings.OfThisThread() != nullptr ? 2 : 0;
      if (pthread_getspecific(0) != before) opened |= 1;
    }).join();
    _exit(opened);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "") << "1: key 0 was overwritten; 2: a ring";
}

}  // namespace
}  // namespace traceinject
