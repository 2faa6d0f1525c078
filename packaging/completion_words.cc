// SPDX-License-Identifier: Apache-2.0
#include "packaging/completion_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceinject {

void Replace(std::string& text, const std::string& mark, const std::string& with) {
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + with.size()))
    text.replace(at, mark.size(), with);
}

std::string Joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

// "kernels" of "analyze kernels"; of the program itself its own name.
std::string ShortName(const CommandText& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

std::string Brief(const std::string& help) {
  std::size_t end = help.size();
  for (const char* stop : {"\n", "; ", ". ", " ("}) end = std::min(end, help.find(stop));
  const std::string brief = help.substr(0, end);
  return brief.ends_with('.') ? brief.substr(0, brief.size() - 1) : brief;
}

std::string QuotedForPosix(const std::string& text) {
  std::string quoted = text;
  Replace(quoted, "'", "'\\''");
  return "'" + quoted + "'";
}

std::string QuotedForFish(const std::string& text) {
  std::string quoted = text;
  Replace(quoted, "\\", "\\\\");
  Replace(quoted, "'", "\\'");
  return "'" + quoted + "'";
}

}  // namespace traceinject
