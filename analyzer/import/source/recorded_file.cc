// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/recorded_file.h"

namespace traceinject {

Error Stopped(const std::string& path) { return Error{path + ": reading was canceled"}; }

}  // namespace traceinject
