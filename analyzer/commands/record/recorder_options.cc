// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/recorder_options.h"

#include <fmt/format.h>

#include "injector/options/options.h"

namespace traceinject {
namespace {

constexpr std::string_view kPrefix = "TRACEINJECT_";
constexpr std::string_view kPreload = "LD_PRELOAD";

// Whether the loader's list of libraries, parted by spaces or colons, has this one.
bool Lists(std::string_view list, std::string_view library) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(" :"), list.size());
    if (list.substr(0, end) == library) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

std::string FlagOf(std::string_view variable) {
  std::string flag = "--";
  for (const char letter : variable.substr(kPrefix.size())) {
    flag += letter == '_'
                ? '-'
                : static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  }
  return flag;
}

void AddRecorderOptions(CLI::App& app, std::map<std::string, std::string>& values) {
  for (const OptionInfo& option : ListOptions()) {
    if (!option.name.starts_with(kPrefix) || option.name == "TRACEINJECT_OUTPUT") continue;
    const std::string name(option.name), flag = FlagOf(name);
    app.add_option_function<std::string>(
           flag,
           [&values, name, flag](const std::string& value) {
             if (const std::string_view expected = ExpectedInstead(name, value); !expected.empty())
               throw CLI::ValidationError(flag, fmt::format("'{}': expected {}", value, expected));
             values[name] = value;
           },
           std::string(option.help))
        ->type_name("VALUE")
        ->default_str(std::string(option.default_value))
        ->group("Recording options, each also a TRACEINJECT_... environment variable");
  }
}

std::vector<std::string> RecordedEnvironment(const std::vector<std::string>& environment,
                                             const std::map<std::string, std::string>& values,
                                             const std::string& library) {
  std::vector<std::string> result;
  std::string preload = library;
  for (const std::string& entry : environment) {
    const std::string name = entry.substr(0, entry.find('='));
    if (name == kPreload) {
      const std::string there = entry.substr(std::min(name.size() + 1, entry.size()));
      if (Lists(there, library)) {
        preload = there;
      } else if (!there.empty()) {
        preload = library + ":" + there;
      }
    } else if (!values.contains(name)) {
      result.push_back(entry);
    }
  }
  for (const auto& [name, value] : values) result.push_back(name + "=" + value);
  result.push_back(std::string(kPreload) + "=" + preload);
  return result;
}

}  // namespace traceinject
