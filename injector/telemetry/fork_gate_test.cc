// SPDX-License-Identifier: Apache-2.0
#include "injector/telemetry/fork_gate.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace {
std::atomic<bool> day_is_ahead{false};
}  // namespace

// In place of the C library's, for all of this program.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto next =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = next(clock, time);
  if (clock == CLOCK_REALTIME && day_is_ahead) time->tv_sec += 3600;
  return result;
}

namespace traceinject {
namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds TimeOfAFork() {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const auto took = std::chrono::steady_clock::now() - begin;
  waitpid(child, nullptr, 0);
  return took;
}

TEST(ForkGateTest, WaitsAWhileForACallWhateverTheTimeOfDayIs) {
  ASSERT_TRUE(ForkGate::Install());
  std::atomic<bool> inside{false};
  std::thread caller([&] {
    const ForkGate::Call call;
    inside = true;
    std::this_thread::sleep_for(1500ms);
  });
  while (!inside) std::this_thread::yield();
  // As if it was set back by an hour after it was read.
  day_is_ahead = true;
  const auto took = TimeOfAFork();
  day_is_ahead = false;
  EXPECT_GE(took, 80ms);
  EXPECT_LT(took, 1000ms);
  EXPECT_LT(TimeOfAFork(), 80ms) << "waited for once";
  caller.join();
}

}  // namespace
}  // namespace traceinject
