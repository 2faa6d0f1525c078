// SPDX-License-Identifier: Apache-2.0
// Scripts that complete the words of a program in a shell, from the options that it declares.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "packaging/command_text.h"

namespace traceinject {

struct CompletedProgram {
  std::string name;
  std::vector<CommandText> commands;  // its subcommands; or only the program itself
  std::string otherwise;              // the command that is meant where none is named
};

std::string BashCompletion(const CompletedProgram& program);
std::string ZshCompletion(const CompletedProgram& program);
std::string FishCompletion(const CompletedProgram& program);

// By the name of the shell; empty: there is no such script.
std::optional<std::string> ShellCompletion(const std::string& shell,
                                           const CompletedProgram& program);

}  // namespace traceinject
