// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/common/result.h"
#include "viewer/options/options.h"

namespace traceinject {

// Plays the script, then writes the state, then the picture: whichever of them the options ask for.
// Needs no display, and OpenGL only for pictures. What the reader remarks goes to stderr.
Status RunWithoutWindow(const ViewerOptions& options);

}  // namespace traceinject
