// SPDX-License-Identifier: Apache-2.0
#include "packaging/command_text.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace traceinject {
namespace {

// The type name of an option is "FILE", or "TEXT:{text,json}" where only some words are allowed.
std::vector<std::string> Choices(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  std::istringstream words(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
  return choices;
}

std::string ValueName(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  if (option.get_type_size_max() == 0) return "";  // a flag
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

OptionText Describe(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  text.value = ValueName(option);
  text.choices = Choices(option.get_type_name());
  text.help = option.get_description();
  text.default_value = option.get_default_str();
  text.required = option.get_required();
  text.repeated = option.get_expected_max() > 1;
  return text;
}

}  // namespace

CommandText DescribeCommand(const CLI::App& app) {
  CommandText text{app.get_name(), app.get_description(), {}, {}, app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    // The group without a name is that of hidden options.
    if (option->get_group().empty()) continue;
    (option->get_positional() ? text.arguments : text.options).push_back(Describe(*option));
  }
  return text;
}

}  // namespace traceinject
