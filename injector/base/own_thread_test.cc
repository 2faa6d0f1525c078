// SPDX-License-Identifier: Apache-2.0
#include "injector/base/own_thread.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <thread>

namespace traceinject {
namespace {

struct Seen {
  int policy = -1;
  cpu_set_t processors{};
  std::size_t stack_bytes = 0;
};

void* Look(void* data) {
  auto* seen = static_cast<Seen*>(data);
  sched_param ignored{};
  pthread_getschedparam(pthread_self(), &seen->policy, &ignored);
  sched_getaffinity(0, sizeof seen->processors, &seen->processors);
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstacksize(&attributes, &seen->stack_bytes);
  pthread_attr_destroy(&attributes);
  return nullptr;
}

Seen OfAnOwnThread() {
  Seen seen;
  pthread_t thread;
  EXPECT_TRUE(StartOwnThread(&thread, Look, &seen));
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  return seen;
}

class OwnThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    sched_getaffinity(0, sizeof all_, &all_);
    RememberProcessors();
  }
  // In a thread that can be changed at will.
  template <typename Body>
  void InAThread(Body body) {
    std::thread(body).join();
  }
  cpu_set_t all_{};
};

TEST_F(OwnThreadTest, IsNotWhereTheThreadThatStartsItIs) {
  if (CPU_COUNT(&all_) < 2) GTEST_SKIP() << "one processor";
  InAThread([&] {
    int first = 0;
    while (!CPU_ISSET(first, &all_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const Seen seen = OfAnOwnThread();
    EXPECT_TRUE(CPU_EQUAL(&seen.processors, &all_));
  });
}

TEST_F(OwnThreadTest, TakesNoPolicyOver) {
  InAThread([] {
    const sched_param lowest{.sched_priority = 1}, none{};
    // Only who may can take a real-time policy; everybody can take this other one.
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest) != 0) {
      ASSERT_EQ(pthread_setschedparam(pthread_self(), SCHED_BATCH, &none), 0);
    }
    EXPECT_EQ(OfAnOwnThread().policy, SCHED_OTHER);
  });
}

TEST_F(OwnThreadTest, HasAStackOfItsOwnSize) {
  constexpr std::size_t kDefaultBytes = 64 << 20;
  pthread_attr_t before, large;
  pthread_getattr_default_np(&before);
  pthread_getattr_default_np(&large);
  pthread_attr_setstacksize(&large, kDefaultBytes);
  ASSERT_EQ(pthread_setattr_default_np(&large), 0);
  EXPECT_LT(OfAnOwnThread().stack_bytes, kDefaultBytes / 2);
  pthread_setattr_default_np(&before);
}

// Where it cannot be had as wanted, it is had as the program's threads are.
TEST_F(OwnThreadTest, IsThereAnyway) {
  Seen seen;
  pthread_t thread;
  ASSERT_TRUE(StartOwnThread(&thread, Look, &seen, std::size_t{1} << 60)) << "more than there is";
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_GT(seen.stack_bytes, 1u);
}

// The C library keeps a thread's own data on its stack.
thread_local volatile char t_large[1536 << 10];

void* UseOneMegabyte(void*) {
  volatile char used[1 << 20];
  for (std::size_t at = 0; at < sizeof used; at += 4096) used[at] = t_large[at];
  return nullptr;
}

TEST_F(OwnThreadTest, HasItsStackBesideThreadLocalData) {
  pthread_t thread;
  ASSERT_TRUE(StartOwnThread(&thread, UseOneMegabyte, nullptr));
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
}

}  // namespace
}  // namespace traceinject
