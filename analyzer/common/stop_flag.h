// SPDX-License-Identifier: Apache-2.0
// How work on another thread is told to give up.
#pragma once

#include <atomic>

namespace traceinject {

// Set by whoever no longer wants the result; null: never. Work looks at it now and then.
using StopFlag = const std::atomic<bool>*;

inline bool IsStopped(StopFlag stop) { return stop != nullptr && *stop; }

}  // namespace traceinject
