// SPDX-License-Identifier: Apache-2.0
#include "injector/base/own_thread.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "injector/base/linker_symbol.h"

namespace traceinject {
namespace {

// Room for as many processors as a kernel can be built for: fewer, and it refuses to tell.
constinit cpu_set_t g_processors[8] = {};
constinit bool g_has_processors = false;

// What the C library takes of a stack for itself: thread-local data of all that the program was
// started with, which may be megabytes. Private to it, and the only one who tells.
std::size_t TakenOfStack(const pthread_attr_t& attributes) {
  const auto least = reinterpret_cast<std::size_t (*)(const pthread_attr_t*)>(
      FindSymbol(RTLD_DEFAULT, "__pthread_get_minstack"));
  return least == nullptr ? 0 : least(&attributes);
}

// False where the program can be given no such thread: a process whose processors were taken away
// since.
bool StartAsAtTheStart(pthread_t* thread, void* (*body)(void*), void* data,
                       std::size_t stack_bytes) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  const sched_param ordinary{};
  bool started =
      pthread_attr_setstacksize(&attributes, stack_bytes + TakenOfStack(attributes)) == 0 &&
      pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0 &&
      pthread_attr_setschedpolicy(&attributes, SCHED_OTHER) == 0 &&
      pthread_attr_setschedparam(&attributes, &ordinary) == 0;
  if (g_has_processors) {
    started =
        started && pthread_attr_setaffinity_np(&attributes, sizeof g_processors, g_processors) == 0;
  }
  started = started && pthread_create(thread, &attributes, body, data) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

void RememberProcessors() {
  g_has_processors = sched_getaffinity(0, sizeof g_processors, g_processors) == 0;
}

bool StartOwnThread(pthread_t* thread, void* (*body)(void*), void* data, std::size_t stack_bytes) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  const bool started = StartAsAtTheStart(thread, body, data, stack_bytes) ||
                       pthread_create(thread, nullptr, body, data) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool JoinWithin(pthread_t thread, std::int64_t limit_ns) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t until_ns = now.tv_nsec + limit_ns % kSecondNs;
  const timespec until{now.tv_sec + limit_ns / kSecondNs + until_ns / kSecondNs,
                       until_ns % kSecondNs};
  return pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &until) == 0;
}

}  // namespace traceinject
