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
  std::exception_ptr thrown;
};

bool SafePoint::Run(const std::function<void()>& work, std::int64_t limit_ns) {
  return Wait({work, nullptr}, limit_ns, &SafePoint::Take);
}

bool SafePoint::Offer(const std::function<void()>& work, std::int64_t limit_ns) {
  return Wait({work, nullptr}, limit_ns, &SafePoint::Withdraw);
}

// `after_limit` ends it where no thread has it by then. Whether one did.
bool SafePoint::Wait(Task task, std::int64_t limit_ns, bool (SafePoint::*after_limit)() noexcept) {
  task_ = &task;
  stage_.store(Stage::kAsked, std::memory_order_release);
  const std::int64_t until_ns = ReadClockNs(CLOCK_MONOTONIC) + limit_ns;
  bool passed = true;
  while (stage_.load(std::memory_order_acquire) != Stage::kDone) {
    if (ReadClockNs(CLOCK_MONOTONIC) >= until_ns && (this->*after_limit)()) {
      passed = false;
      break;
    }
    nanosleep(&kPause, nullptr);
  }
  stage_.store(Stage::kIdle, std::memory_order_relaxed);
  if (task.thrown) std::rethrow_exception(task.thrown);
  return passed;
}

// False: another thread has it.
bool SafePoint::Withdraw() noexcept {
  Stage asked = Stage::kAsked;
  return stage_.compare_exchange_strong(asked, Stage::kDone, std::memory_order_acquire);
}

// False: another thread has it.
bool SafePoint::Take() noexcept {
  Stage asked = Stage::kAsked;
  if (!stage_.compare_exchange_strong(asked, Stage::kTaken, std::memory_order_acquire))
    return false;
  try {
    task_->work();
  } catch (...) {
    task_->thrown = std::current_exception();
  }
  stage_.store(Stage::kDone, std::memory_order_release);
  return true;
}

}  // namespace traceinject
