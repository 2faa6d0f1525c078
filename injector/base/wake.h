// SPDX-License-Identifier: Apache-2.0
// How producers wake the writer thread: a futex word, so that a post costs no lock and, when nobody
// sleeps, no system call.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace traceinject {

class Wake {
 public:
  // Called by producers, from any thread.
  void Post() {
    if (posted_.exchange(1, std::memory_order_release) == 0) {
      syscall(SYS_futex, &posted_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }

  // Called by the writer: returns after a Post() since the last return, or after timeout_ns.
  void Wait(std::int64_t timeout_ns) {
    if (posted_.load(std::memory_order_acquire) == 0) {
      timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                       static_cast<long>(timeout_ns % 1'000'000'000)};
      syscall(SYS_futex, &posted_, FUTEX_WAIT_PRIVATE, 0, &timeout, nullptr, 0);
    }
    posted_.exchange(0, std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint32_t> posted_{0};
};

}  // namespace traceinject
