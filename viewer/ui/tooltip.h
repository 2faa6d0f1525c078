// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/timeline/timeline.h"

namespace traceinject {

// The event under the pointer, beside the pointer.
void DrawTooltip(const Timeline& timeline, const EventRef& ref);

}  // namespace traceinject
