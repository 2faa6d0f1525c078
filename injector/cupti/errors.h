// SPDX-License-Identifier: Apache-2.0
// Calls of CUPTI that failed after recording began: each is counted, and the first is kept, so that
// a recording says what went wrong.
#pragma once

#include <cupti.h>

namespace traceinject {

// True if `result` is a success; else the failure of `function` (a literal) is noted. Any thread,
// lock-free.
bool CuptiSucceeded(const char* function, CUptiResult result);

struct CuptiError {
  const char* function = nullptr;  // null: there was none
  CUptiResult result = CUPTI_SUCCESS;
};
CuptiError FirstCuptiError();

}  // namespace traceinject
