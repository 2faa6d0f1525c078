// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/import/load/load_run.h"

namespace traceinject {

// In the middle of the window while a run is read. `what`: its name.
void DrawProgress(const LoadProgress& progress, const std::string& what);

}  // namespace traceinject
