// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/errors.h"

#include <atomic>

#include "injector/base/counters.h"

namespace traceinject {
namespace {

std::atomic<bool> g_first_taken{false};
std::atomic<const char*> g_first_function{nullptr};  // published after the result
CUptiResult g_first_result = CUPTI_SUCCESS;

}  // namespace

bool CuptiSucceeded(const char* function, CUptiResult result) {
  if (result == CUPTI_SUCCESS) return true;
  g_counters.Add(Health::kCuptiErrors);
  if (!g_first_taken.exchange(true, std::memory_order_relaxed)) {
    g_first_result = result;
    g_first_function.store(function, std::memory_order_release);
  }
  return false;
}

CuptiError FirstCuptiError() {
  const char* function = g_first_function.load(std::memory_order_acquire);
  return function == nullptr ? CuptiError{} : CuptiError{function, g_first_result};
}

}  // namespace traceinject
