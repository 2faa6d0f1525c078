// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/common/result.h"

namespace traceinject {

// The absolute path of libtraceinject.so: `override_path` if it is not empty, else what lies beside
// the program in `program_folder`, ../lib or ../lib/traceinject. Error: a sentence that says where
// it was looked for and how to build it.
Result<std::string> FindPreloadLibrary(const std::string& program_folder,
                                       const std::string& override_path);

}  // namespace traceinject
