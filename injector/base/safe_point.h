// SPDX-License-Identifier: Apache-2.0
// Work that is done while the thread that launches is in no CUDA call. To turn records of a call on
// or off in the middle of that call leaves CUPTI's count of the calls that the thread is in wrong
// for good: all its later calls have one correlation id, or are told twice
// (tests/gpu/results/cupti.md).
//
// Which calls a thread is in cannot be seen. But one that comes by our wrappers is in none, and
// those of GEMMs, ranges, steps and waits are called by the thread that launches. So the
// next one that comes by does the work.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "injector/base/state.h"

namespace traceinject {

class SafePoint {
 public:
  // On a thread of the program that is in no CUDA call. One load if nothing is asked for.
  void Pass() noexcept {
    if (stage_.load(std::memory_order_relaxed) == Stage::kAsked && Recording()) Take();
  }

  // Returns when `work` is done: by a thread that passes, or by this one where none did for
  // `limit_ns` (false). What `work` throws is thrown here. One thread at a time.
  bool Run(const std::function<void()>& work, std::int64_t limit_ns = kLongestWaitNs);
  // The same for work that had better not be done than beside a thread that launches: where no
  // thread passes for `limit_ns` it is left undone (false).
  bool Offer(const std::function<void()>& work, std::int64_t limit_ns = kLongestWaitNs);
  // The same for work that needs leave: `may` is asked on this thread, while the one that passes
  // waits (for kLongestHoldNs at most, then it goes on), so that what it finds is so when the work
  // begins. Without leave it is left undone.
  enum class Outcome { kPassed, kNonePassed, kRefused };
  Outcome RunIf(const std::function<bool()>& may, const std::function<void()>& work,
                std::int64_t limit_ns = kLongestWaitNs);
  static constexpr std::int64_t kLongestWaitNs = 500'000'000;
  static constexpr std::int64_t kLongestHoldNs = 50'000'000;

  // The program ends, which waits for whoever asks: from now on no thread is waited for.
  void StopWaiting() noexcept { waits_.store(false, std::memory_order_relaxed); }

 private:
  enum class Stage : int { kIdle, kAsked, kTaken, kHeld, kAnswered, kDone };
  struct Task;

  bool Wait(Task* task, std::int64_t limit_ns, bool (SafePoint::*after_limit)() noexcept);
  void Take() noexcept;
  bool TakeMyself() noexcept;
  bool Withdraw() noexcept;
  bool Claim() noexcept;
  bool IsAllowed() noexcept;
  void Answer() noexcept;
  void Work() noexcept;

  std::atomic<Stage> stage_{Stage::kIdle};
  std::atomic<bool> waits_{true};
  Task* task_ = nullptr;
};

// The one of this process.
inline constinit SafePoint g_safe_point;

}  // namespace traceinject
