// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/kernel_names.h"

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

// "at::native::" at the end of the text so far is a scope: it goes, back to where its token began.
void DropScope(std::string& text) {
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

void DropEnding(std::string& text, std::string_view ending) {
  if (text.size() >= ending.size() &&
      text.compare(text.size() - ending.size(), ending.size(), ending) == 0) {
    text.erase(text.size() - ending.size());
  }
}

// Handles "::" at the front of `rest`; returns how much of it is done with. A lambda says nothing
// without the function that it is in, so that scope stays; the call operators between nested
// lambdas do not.
std::size_t EnterScope(std::string_view rest, std::string& text) {
  static constexpr std::string_view kCall = "::operator()";
  DropEnding(text, " const");
  if (StartsWith(rest, "::{")) {
    text += "::";
  } else if (!text.empty() && text.back() == '}' && StartsWith(rest, kCall)) {
    return kCall.size();
  } else {
    DropScope(text);
  }
  return 2;
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
        at += EnterScope(name.substr(at), text) - 1;
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
