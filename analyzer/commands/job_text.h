// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/ranks/rank_summary.h"

namespace traceinject {

// Who is there: hosts with their ranks and GPUs, what was recorded of them, and what is missing.
std::string JobText(const Job& job);

}  // namespace traceinject
