// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/common/result.h"

namespace traceinject {

// Where the recorder of `run` looks for orders.
std::string TriggerPathOf(const std::string& run);

// Replaces the order in the file `path`.
Status WriteTrigger(const std::string& path, const std::string& order);

}  // namespace traceinject
