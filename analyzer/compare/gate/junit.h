// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schemas/comparison.pb.h"

namespace traceinject {

// The conditions as a JUnit file, which CI systems show: one test case each. Unknown figures are
// failures too, or skipped where they were allowed.
std::string WriteJunit(const proto::GateResult& result, bool allow_unknown);

}  // namespace traceinject
