// SPDX-License-Identifier: Apache-2.0
// A process of ours that shares the program's memory for a while: no worker of the program.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace traceinject {

inline constexpr pid_t kNoOwnChild = 0;
// It is being made: a child that is new may be it.
inline constexpr pid_t kOwnChildToCome = -1;

inline constinit std::atomic<pid_t> g_own_child{kNoOwnChild};

}  // namespace traceinject
