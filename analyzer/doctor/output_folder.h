// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/doctor/checklist.h"

namespace traceinject {

// Whether a recording can be written to where `pattern` (TRACEINJECT_OUTPUT) says, and whether
// there is room for it. `spool`: TRACEINJECT_SPOOL, empty without one.
Checklist CheckOutputFolder(const std::string& pattern, const std::string& spool);

// The folder that `pattern` lies in as far as it is known now: what is made of %h and the like, and
// what is not there yet, is left off.
std::string KnownFolder(const std::string& pattern);

}  // namespace traceinject
