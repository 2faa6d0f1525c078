// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/program_name.h"

#include <vector>

namespace traceinject {
namespace {

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = line.find(' ');
    if (end != 0) words.push_back(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return words;
}

std::string_view WithoutFolders(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

std::string ProgramName(std::string_view command_line) {
  const std::vector<std::string_view> words = WordsOf(command_line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-m" && i + 1 < words.size()) return std::string(words[i + 1]);
    if (words[i].ends_with(".py")) return std::string(WithoutFolders(words[i]));
  }
  return words.empty() ? std::string() : std::string(WithoutFolders(words.front()));
}

}  // namespace traceinject
