// SPDX-License-Identifier: Apache-2.0
// The subcommands that try fixes and hold predictions against them. They return an ExitCode.
#pragma once

#include <string>
#include <vector>

namespace traceinject {

int RunTry(const std::vector<std::string>& arguments);
int RunScore(const std::vector<std::string>& arguments);

}  // namespace traceinject
