// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/name_patterns.h"

#include <cstddef>

namespace traceinject {
namespace {

bool IsLower(char letter) { return letter >= 'a' && letter <= 'z'; }

// One alternative. O(name x pattern).
bool Matches(std::string_view name, std::string_view pattern) {
  const bool anchored = pattern.front() == '^';
  const bool word = pattern.front() == '<';
  if (anchored || word) pattern.remove_prefix(1);
  char forbidden_next = 0;
  if (pattern.size() > 2 && pattern[pattern.size() - 2] == '!') {
    forbidden_next = pattern.back();
    pattern.remove_suffix(2);
  }
  std::size_t from = 0;
  if (const std::size_t star = pattern.find('*'); star != std::string_view::npos) {
    const std::size_t head = name.find(pattern.substr(0, star));
    if (head == std::string_view::npos) return false;
    from = head + star;
    pattern.remove_prefix(star + 1);
  }
  if (anchored) return name.starts_with(pattern);
  for (std::size_t at = name.find(pattern, from); at != std::string_view::npos;
       at = name.find(pattern, at + 1)) {
    const std::size_t next = at + pattern.size();
    if (word && at > 0 && IsLower(name[at - 1])) continue;
    if (forbidden_next != 0 && next < name.size() && name[next] == forbidden_next) continue;
    return true;
  }
  return false;
}

}  // namespace

bool MatchesAny(std::string_view name, std::string_view patterns) {
  while (!patterns.empty()) {
    const std::size_t bar = patterns.find('|');
    if (Matches(name, patterns.substr(0, bar))) return true;
    if (bar == std::string_view::npos) break;
    patterns.remove_prefix(bar + 1);
  }
  return false;
}

}  // namespace traceinject
