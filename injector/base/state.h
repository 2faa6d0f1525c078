// SPDX-License-Identifier: Apache-2.0
// Whether events are wanted. Producers read it first and do nothing else unless it says kRunning.
#pragma once

#include <atomic>

namespace traceinject {

enum class State : int {
  kArmed,    // loaded; nothing started. A process that never uses CUDA stays here
  kRunning,  // InitializeInjection ran in this process
  kFailed,   // it ran, but nothing can be recorded: a file with the reason follows once the GPU is
             // used
  kDone,     // the recording ended, or stopped at its limits
  kDead,     // a forked child: nothing of ours may run
  kOutside,  // CUDA or NVTX loaded us into a program that is not to be recorded, or one with rights
             // that its user lacks has us preloaded for all
};

inline constinit std::atomic<State> g_state{State::kArmed};

inline bool Recording() { return g_state.load(std::memory_order_relaxed) == State::kRunning; }

}  // namespace traceinject
