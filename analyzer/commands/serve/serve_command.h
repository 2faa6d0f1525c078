// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace traceinject {

// The subcommand; returns an ExitCode.
int RunServe(const std::vector<std::string>& arguments);

}  // namespace traceinject
