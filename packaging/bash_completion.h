// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "packaging/command_text.h"

namespace traceinject {

// A script for bash that completes the words of `program`. `commands`: its subcommands, of which
// `otherwise` is meant where none is named; or only the program itself.
std::string BashCompletion(const std::string& program, const std::vector<CommandText>& commands,
                           const std::string& otherwise);

}  // namespace traceinject
