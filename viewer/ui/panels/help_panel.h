// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/timeline/commands.h"

namespace traceinject {

// Keys and mouse, over everything.
void DrawHelp(ShownIn place);

}  // namespace traceinject
