// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "analyzer/common/text.h"

namespace traceinject {
namespace {

// Deeper template arguments than these say nothing to a reader.
constexpr int kMaxLevel = 3;

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// "at::native::f" -> "f" at the end of what has been written so far. Scopes end where a new token
// began.
void DropScope(std::string& text) {
  const std::size_t token = text.find_last_of(" <,(*&");
  text.erase(token == std::string::npos ? 0 : token + 1);
}

// Template arguments nested deeper than `level` and all parameter lists left out; no scopes.
std::string Strip(std::string_view name, int level) {
  if (StartsWith(name, "void ")) name.remove_prefix(5);
  std::string text;
  int angle = 0, round = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    static constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    if (StartsWith(name.substr(at), kAnonymous)) {
      at += kAnonymous.size() - 1;
      continue;
    }
    const char c = name[at];
    const bool arrow = c == '>' && at > 0 && name[at - 1] == '-';
    if (c == '(') ++round;
    if (c == '<' && round == 0) ++angle;
    if (round == 0 && angle <= level) {
      if (StartsWith(name.substr(at), "::")) {
        DropScope(text);
        ++at;
        continue;
      }
      text += c;
    }
    if (c == '>' && !arrow && round == 0 && angle > 0) --angle;
    if (c == ')' && round > 0) --round;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.empty() ? std::string(name) : text;
}

// Whether any other name of the list has the same text.
std::map<std::string, int> CountTexts(const std::vector<std::string>& texts) {
  std::map<std::string, int> count;
  for (const std::string& text : texts) ++count[text];
  return count;
}

}  // namespace

std::vector<std::string> ShortKernelNames(const std::vector<std::string>& names,
                                          std::size_t width) {
  std::vector<std::string> texts;
  for (const std::string& name : names) texts.push_back(Strip(name, 0));
  for (int level = 1; level <= kMaxLevel; ++level) {
    const std::map<std::string, int> count = CountTexts(texts);
    std::vector<std::string> next = texts;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (count.at(texts[i]) > 1) next[i] = Strip(names[i], level);
    }
    texts = std::move(next);
  }
  // The mark of the last resort needs room too.
  constexpr std::size_t kMark = 4;
  for (std::string& text : texts) text = ShortenMiddle(text, width - kMark);
  std::map<std::string, int> seen;
  for (std::string& text : texts) {
    const int number = ++seen[text];
    if (number > 1) text += fmt::format("#{}", number);
  }
  return texts;
}

}  // namespace traceinject
