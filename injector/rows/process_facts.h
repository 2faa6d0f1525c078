// SPDX-License-Identifier: Apache-2.0
// What is known about the process and its job before any GPU work: ranks, run id, command line with
// secrets masked.
#pragma once

#include <vector>

#include "injector/rows/rows.h"

namespace traceinject {

// The same but for the command line, whose secrets take time to find: for the program's threads.
ProcessRow ReadJobFacts(const char* const* environment);

// Everything but the versions of CUDA's libraries. Reads /proc and `environment` (as
// EnvironmentCopy::block()).
ProcessRow ReadProcessFacts(const char* const* environment);

// Environment variables that change how GPUs, NCCL or PyTorch behave, secrets masked.
std::vector<SystemFactRow> ReadEnvironmentFacts(const char* const* environment);

}  // namespace traceinject
