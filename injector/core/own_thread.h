// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

namespace traceinject {

// A thread of ours in the program: it must not take the program's signals, which are for its own
// threads. False: there is none. `stack_bytes` 0: as the system has it, 8 MB as a rule, which count
// where the program's address space is limited.
inline bool StartOwnThread(pthread_t* thread, void* (*body)(void*), void* data,
                           std::size_t stack_bytes = 0) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  const int error = pthread_create(thread, &attributes, body, data);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

// Waits for its end. False: it did not come in time. Not on the clock of the day, which may be set
// back by hours meanwhile. Needs glibc 2.31.
inline bool JoinWithin(pthread_t thread, std::int64_t limit_ns) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t until_ns = now.tv_nsec + limit_ns % kSecondNs;
  const timespec until{now.tv_sec + limit_ns / kSecondNs + until_ns / kSecondNs,
                       until_ns % kSecondNs};
  return pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &until) == 0;
}

}  // namespace traceinject
