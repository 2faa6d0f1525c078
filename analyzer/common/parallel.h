// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace traceinject {

// More would need much memory and gain little: tasks hold columns as long as the run.
inline constexpr unsigned kMaxThreads = 4;

// How many tasks RunInParallel runs at a time, at most.
unsigned Processors();

// Runs tasks that do not depend on each other, on as many processors as the process may use (at
// most kMaxThreads); the calling thread is one of them. They begin in their order. Returns once
// all have ended; what the first to fail threw is thrown again then, and no task begins after it.
void RunInParallel(const std::vector<std::function<void()>>& tasks);

}  // namespace traceinject
