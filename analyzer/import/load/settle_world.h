// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/model/run.h"

namespace traceinject {

// Leaves the communicator of all ranks that traces are taken to have (kAssumedWorld) where all
// ranks are there and issued the same operations on it. Otherwise the communicator of these
// operations is unknown. Returns why, in a sentence; empty: nothing was taken away. O(operations).
std::string SettleAssumedWorld(Run& run);

}  // namespace traceinject
