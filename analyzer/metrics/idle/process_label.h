// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/model/run.h"

namespace traceinject {

// What a process of the run is called: "rank 3"; "rank 3 pid 4711" where several processes are of
// that rank; "pid 4711" without a rank. O(processes).
std::string ProcessLabel(const Run& run, const Rank& rank);

}  // namespace traceinject
