// SPDX-License-Identifier: Apache-2.0
// FAKE_CUPTI_FAIL: which functions of the fake libcupti fail. A list, separated by commas, of
// <function>[:<n>] or all[:<n>]: from the n-th call on (1 unless given), each fails with
// CUPTI_ERROR_UNKNOWN and does nothing.
#pragma once

namespace traceinject::fake {

// Counts a call of `function`; true if it shall fail.
bool Fails(const char* function);

}  // namespace traceinject::fake
