// SPDX-License-Identifier: Apache-2.0
// The program `analyze`: finds the subcommand and runs it. Data goes to stdout, talk to stderr.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/commands/shared/exit_code.h"

namespace traceinject {

struct Command {
  std::string_view name;
  std::string_view help;  // one line
  int (*run)(const std::vector<std::string>&
                 arguments);  // without the command's name; returns an ExitCode
};

std::span<const Command> Commands();

// What `analyze --help` prints.
std::string HelpText();

// `arguments`: without the name of the program. Returns the exit code.
int Analyze(const std::vector<std::string>& arguments);

}  // namespace traceinject
