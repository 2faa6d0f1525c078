// SPDX-License-Identifier: Apache-2.0
// What --check says of a run that could be read.
#pragma once

#include <string>

#include "viewer/core/load/background_load.h"

namespace traceinject {

struct CheckedRun {
  std::string text;    // lines for people
  bool whole = false;  // nothing is known to be lost, cut off or left out
};

// O(operations).
CheckedRun CheckRun(const LoadedRun& loaded);

}  // namespace traceinject
