// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/options/options.h"

namespace traceinject {

// Shows the run in a window, writes a picture of it, checks it or measures frames of it. Returns
// the exit code; errors go to stderr.
int Traceview(const ViewerOptions& options);

}  // namespace traceinject
