// SPDX-License-Identifier: Apache-2.0
// NCCL's own log, which tells how it connects the ranks: the variables that make NCCL write it to a
// private file of ours, and the name of that file. They are offered to what asks for them in this
// process (injector/environment/environment.h) and are not in its environment, which children would
// inherit.
#pragma once

#include <string>

#include "injector/base/environment_copy.h"

namespace traceinject {

// In the constructor: makes up the name of the file, which nobody can guess. Nothing is offered
// where the user set one of NCCL_DEBUG, NCCL_DEBUG_SUBSYS and NCCL_DEBUG_FILE.
void OfferNcclLog();

// What NCCL is to find in the variable `name`; null: nothing of ours, as from when on the program
// itself sets one of the three.
const char* OfferedNcclLog(const char* name);

// Where NCCL in this process writes its log; empty: not to a file of ours. `environment`: in which
// the program may have set one of the three since.
std::string NcclLogPath(const EnvironmentCopy& environment);

}  // namespace traceinject
