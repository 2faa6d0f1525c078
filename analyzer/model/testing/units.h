// SPDX-License-Identifier: Apache-2.0
// Units of time for tests, in nanoseconds.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

inline constexpr TimeNs kUs = 1'000;
inline constexpr TimeNs kMs = 1'000'000;
inline constexpr TimeNs kSecond = 1'000'000'000;

}  // namespace traceinject
