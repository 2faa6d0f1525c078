// SPDX-License-Identifier: Apache-2.0
// Keeps the program's forks out of our calls into NVML: a child that is forked inside one inherits
// NVML's locks taken, with nobody to release them, and would hang in its own first call.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "injector/base/timed_lock.h"

namespace traceinject {

class ForkGate {
 public:
  // Registers with pthread_atfork, once a process.
  static bool Install() {
    static const bool installed = pthread_atfork(BeforeFork, AfterFork, AfterFork) == 0;
    return installed;
  }

  // While one lives, forks wait.
  class Call {
   public:
    Call() { pthread_mutex_lock(&mutex_); }
    ~Call() {
      broken_.store(false, std::memory_order_relaxed);
      pthread_mutex_unlock(&mutex_);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
  };

 private:
  // A round of calls takes 50 ms at most unless the driver is broken: then forks wait once, and no
  // more until that call returned.
  static constexpr std::int64_t kLongestWaitNs = 100'000'000;

  static void BeforeFork() {
    if (broken_.load(std::memory_order_relaxed)) {
      held_ = pthread_mutex_trylock(&mutex_) == 0;
      return;
    }
    held_ = LockWithin(&mutex_, kLongestWaitNs);
    broken_.store(!held_, std::memory_order_relaxed);
  }
  static void AfterFork() {
    if (held_) pthread_mutex_unlock(&mutex_);
  }

  static inline pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  static inline std::atomic<bool> broken_{false};
  static inline thread_local bool held_ = false;  // by the forking thread
};

}  // namespace traceinject
