// SPDX-License-Identifier: Apache-2.0
// A process of ours that shares the program's memory for a while: no worker of the program.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace traceinject {

inline constinit std::atomic<pid_t> g_own_child{0};  // 0: there is none

}  // namespace traceinject
