// SPDX-License-Identifier: Apache-2.0
// What a program's own options say of it, for manual pages and completion.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace traceinject {

struct OptionText {
  std::vector<std::string> names;    // "-o", "--output"; none: an argument without a dash
  std::string value;                 // what follows it, as in "FILE"; of an argument its name
  std::vector<std::string> choices;  // all that may follow it, where that is known
  std::string help;
  std::string default_value;  // empty: none is told
  bool required = false;
  bool repeated = false;  // of an argument: there may be several
};

struct CommandText {
  std::string name;   // "analyze kernels"
  std::string about;  // what it does
  std::vector<OptionText> arguments, options;
  std::string footer;  // lines as they are, examples among them
};

// Without the options that its help hides.
CommandText DescribeCommand(const CLI::App& app);

// Each subcommand of `analyze`, in the order of its help. analyze_commands.cc.
std::vector<CommandText> AnalyzeCommands();

}  // namespace traceinject
