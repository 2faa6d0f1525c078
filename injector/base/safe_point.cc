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
  bool refused = false;
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
  if (task.refused) return Outcome::kRefused;
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
    } else if (ReadClockNs(CLOCK_MONOTONIC) >= until_ns && (this->*after_limit)()) {
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
  Work();
  return true;
}

void SafePoint::Take() noexcept {
  if (!Claim()) return;
  if (task_->may != nullptr) {
    stage_.store(Stage::kHeld, std::memory_order_release);
    while (stage_.load(std::memory_order_acquire) == Stage::kHeld) nanosleep(&kPause, nullptr);
  }
  Work();
}

void SafePoint::Answer() noexcept {
  try {
    task_->refused = !(*task_->may)();
  } catch (...) {
    task_->thrown = std::current_exception();
    task_->refused = true;
  }
  stage_.store(Stage::kAnswered, std::memory_order_release);
}

void SafePoint::Work() noexcept {
  try {
    if (!task_->refused) task_->work();
  } catch (...) {
    task_->thrown = std::current_exception();
  }
  stage_.store(Stage::kDone, std::memory_order_release);
}

}  // namespace traceinject
