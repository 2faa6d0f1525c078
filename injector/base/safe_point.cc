// SPDX-License-Identifier: Apache-2.0
#include "injector/base/safe_point.h"

#include <time.h>

#include <exception>

#include "injector/base/clock.h"

namespace traceinject {
namespace {

constexpr timespec kPause{0, 50'000};

}  // namespace

struct SafePoint::Task {
  const std::function<void()>& work;
  const std::function<bool()>* may = nullptr;
  bool refused = false;  // by the thread that asks
  bool left = false;     // by the one that passed, which waited too long
  std::exception_ptr thrown = nullptr;
};

bool SafePoint::Run(const std::function<void()>& work, std::int64_t limit_ns) {
  Task task{work};
  return Wait(&task, limit_ns, &SafePoint::TakeMyself);
}

bool SafePoint::Offer(const std::function<void()>& work, std::int64_t limit_ns) {
  Task task{work};
  return Wait(&task, limit_ns, &SafePoint::Withdraw);
}

SafePoint::Outcome SafePoint::RunIf(const std::function<bool()>& may,
                                    const std::function<void()>& work, std::int64_t limit_ns) {
  Task task{work, &may};
  const bool passed = Wait(&task, limit_ns, &SafePoint::TakeMyself);
  if (task.refused || task.left) return Outcome::kRefused;
  return passed ? Outcome::kPassed : Outcome::kNonePassed;
}

// `after_limit` ends it where no thread has it by then. Whether one did.
bool SafePoint::Wait(Task* task, std::int64_t limit_ns, bool (SafePoint::*after_limit)() noexcept) {
  task_ = task;
  stage_.store(Stage::kAsked, std::memory_order_release);
  const std::int64_t until_ns = ReadClockNs(CLOCK_MONOTONIC) + limit_ns;
  bool passed = true;
  for (Stage stage = Stage::kAsked; stage != Stage::kDone;
       stage = stage_.load(std::memory_order_acquire)) {
    if (stage == Stage::kHeld) {
      Answer();
    } else if ((!waits_.load(std::memory_order_relaxed) ||
                ReadClockNs(CLOCK_MONOTONIC) >= until_ns) &&
               (this->*after_limit)()) {
      passed = false;
      break;
    }
    nanosleep(&kPause, nullptr);
  }
  stage_.store(Stage::kIdle, std::memory_order_relaxed);
  if (task->thrown) std::rethrow_exception(task->thrown);
  return passed;
}

// False: another thread has it.
bool SafePoint::Withdraw() noexcept {
  Stage asked = Stage::kAsked;
  return stage_.compare_exchange_strong(asked, Stage::kDone, std::memory_order_acquire);
}

// The same.
bool SafePoint::Claim() noexcept {
  Stage asked = Stage::kAsked;
  return stage_.compare_exchange_strong(asked, Stage::kTaken, std::memory_order_acquire);
}

// The same.
bool SafePoint::TakeMyself() noexcept {
  if (!Claim()) return false;
  if (task_->may != nullptr) Answer();
  if (!task_->refused) Work();
  return true;
}

void SafePoint::Take() noexcept {
  if (!Claim()) return;
  if (task_->may == nullptr || IsAllowed()) Work();
  stage_.store(Stage::kDone, std::memory_order_release);
}

// What `may` does may wait for what this thread holds.
bool SafePoint::IsAllowed() noexcept {
  stage_.store(Stage::kHeld, std::memory_order_release);
  const std::int64_t until_ns = ReadClockNs(CLOCK_MONOTONIC) + kLongestHoldNs;
  while (stage_.load(std::memory_order_acquire) == Stage::kHeld) {
    Stage held = Stage::kHeld;
    if (ReadClockNs(CLOCK_MONOTONIC) >= until_ns &&
        stage_.compare_exchange_strong(held, Stage::kTaken, std::memory_order_acquire)) {
      task_->left = true;
      return false;
    }
    nanosleep(&kPause, nullptr);
  }
  return !task_->refused;
}

void SafePoint::Answer() noexcept {
  try {
    task_->refused = !(*task_->may)();
  } catch (...) {
    task_->thrown = std::current_exception();
    task_->refused = true;
  }
  Stage held = Stage::kHeld;
  stage_.compare_exchange_strong(held, Stage::kAnswered, std::memory_order_release,
                                 std::memory_order_relaxed);
}

void SafePoint::Work() noexcept {
  try {
    task_->work();
  } catch (...) {
    task_->thrown = std::current_exception();
  }
}

}  // namespace traceinject
