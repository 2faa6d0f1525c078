// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "packaging/shell_completion.h"

namespace traceinject {

// main() of programs that print what is installed: with the name of a shell its completion, else
// the manual page. Returns the exit code.
int Describe(int argc, char** argv, const CompletedProgram& program,
             const std::function<std::string()>& manual);

}  // namespace traceinject
