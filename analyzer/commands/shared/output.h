// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "analyzer/common/result.h"

namespace traceinject {

// Writes all of `data` to the file, replacing it; "-" is stdout.
Status WriteOutput(const std::string& path, std::string_view data);

// WriteOutput, with the exit code: a failure is told on stderr.
int WriteOrExplain(const std::string& program, const std::string& path, std::string_view data);

}  // namespace traceinject
