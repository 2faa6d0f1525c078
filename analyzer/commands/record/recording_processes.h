// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace traceinject {

// Whether a process of this machine that the user may look at has the recorder loaded and would
// record to `run`: before its first window there is no file that could tell. Of an output name with
// patterns (%r) it is taken to. O(processes).
bool HasRecordingProcess(const std::string& run);

}  // namespace traceinject
