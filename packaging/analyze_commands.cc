// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/shared/arguments.h"
#include "packaging/command_text.h"

namespace traceinject {
namespace {

CommandText TextOf(const CLI::App& app) {
  CommandText text = DescribeCommand(app);
  for (OptionText& option : text.options) {
    if (option.choices.empty()) option.choices = OfferedWords(app, option.names.back());
  }
  return text;
}

}  // namespace

std::vector<CommandText> AnalyzeCommands() {
  std::vector<CommandText> texts;
  for (const Command& command : Commands()) {
    SeeOptions([&] { command.run({}); },
               [&](const CLI::App& app) { texts.push_back(TextOf(app)); });
  }
  return texts;
}

}  // namespace traceinject
