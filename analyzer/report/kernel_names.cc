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

// What ends the text so far turned out to be a scope ("at::native::"): it goes, back to where its
// token began. A scope may be a member function: "f::operator() const::{lambda".
void DropScope(std::string& text) {
  static constexpr std::string_view kConst = " const";
  if (text.size() >= kConst.size() &&
      text.compare(text.size() - kConst.size(), kConst.size(), kConst) == 0) {
    text.erase(text.size() - kConst.size());
  }
  int angle = 0;  // of template arguments that belong to the scope
  std::size_t token = text.size();
  for (; token > 0; --token) {
    const char c = text[token - 1];
    if (c == '<' && angle-- == 0) break;
    if (c == '>') ++angle;
    if (angle == 0 && std::string_view(" ,(*&").find(c) != std::string_view::npos) break;
  }
  text.erase(token);
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
      if (c == '>' && !text.empty() && text.back() == ' ') text.pop_back();
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

std::map<std::string, int> CountTexts(const std::map<std::string, std::string>& texts) {
  std::map<std::string, int> count;
  for (const auto& [name, text] : texts) ++count[text];
  return count;
}

}  // namespace

std::vector<std::string> ShortKernelNames(const std::vector<std::string>& names,
                                          std::size_t width) {
  std::map<std::string, std::string> texts;  // equal names stay equal
  for (const std::string& name : names) texts[name] = Strip(name, 0);
  for (int level = 1; level <= kMaxLevel; ++level) {
    const std::map<std::string, int> count = CountTexts(texts);
    for (auto& [name, text] : texts) {
      if (count.at(text) > 1) text = Strip(name, level);
    }
  }
  // The mark of the last resort needs room too.
  constexpr std::size_t kMark = 4;
  std::map<std::string, int> seen;
  std::map<std::string, std::string> shortened;
  std::vector<std::string> result;
  for (const std::string& name : names) {
    const auto [at, is_new] =
        shortened.try_emplace(name, ShortenMiddle(texts[name], width - kMark));
    const int number = is_new ? ++seen[at->second] : 1;
    if (number > 1) at->second += fmt::format("#{}", number);
    result.push_back(at->second);
  }
  return result;
}

}  // namespace traceinject
