// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/background_load.h"

namespace traceinject {

// One line: what is open, and how many remarks the reader made (hover: their text).
void DrawTitleBar(const LoadedRun& loaded);

}  // namespace traceinject
