// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/common/result.h"
#include "viewer/options/options.h"

namespace traceinject {

// Shows the recording in browsers until Ctrl-C: prints the address, with a token made for this
// time, and draws what each of them shows. Needs no display and no OpenGL. Error: nothing can be
// served there.
Status ServeViewers(const ViewerOptions& options);

}  // namespace traceinject
