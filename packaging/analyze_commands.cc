// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/shared/arguments.h"
#include "packaging/command_text.h"

namespace traceinject {

std::vector<CommandText> AnalyzeCommands() {
  std::vector<CommandText> texts;
  for (const Command& command : Commands()) {
    SeeOptions([&] { command.run({}); },
               [&](const CLI::App& app) { texts.push_back(DescribeCommand(app)); });
  }
  return texts;
}

}  // namespace traceinject
