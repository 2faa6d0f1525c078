// SPDX-License-Identifier: Apache-2.0
// NCCL's own log, which tells how it connects the ranks: the environment variables that make NCCL
// write it to a private file of ours, and the name of that file.
#pragma once

#include <string>
#include <string_view>

#include "injector/core/environment_copy.h"

namespace traceinject {

// In the constructor only, the one safe time to change the environment. Changes nothing where the
// user set one of NCCL_DEBUG, NCCL_DEBUG_SUBSYS and NCCL_DEBUG_FILE. Each program gets a name that
// nobody can guess, also the child of a program that was given one.
void PublishNcclLog();

// The opposite, in a program that inherited the variables and shall not have them. What the user
// set stays.
void WithdrawNcclLog();

bool IsNcclLogVariable(std::string_view name);

// Where NCCL in this process writes its log; empty: not to a file of ours.
std::string NcclLogPath(const EnvironmentCopy& environment);

}  // namespace traceinject
