// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/keys.h"

#include <algorithm>
#include <cctype>

namespace traceinject {
namespace {

struct NamedKey {
  Key key;
  std::string_view name;
};
constexpr NamedKey kNamed[] = {
    {Key::kComma, ","},       {Key::kPeriod, "."},
    {Key::kSlash, "/"},       {Key::kQuestion, "?"},
    {Key::kLeftBracket, "["}, {Key::kRightBracket, "]"},
    {Key::kLeft, "Left"},     {Key::kRight, "Right"},
    {Key::kUp, "Up"},         {Key::kDown, "Down"},
    {Key::kPageUp, "PageUp"}, {Key::kPageDown, "PageDown"},
    {Key::kHome, "Home"},     {Key::kEnter, "Enter"},
    {Key::kEscape, "Esc"},    {Key::kBackspace, "Backspace"},
    {Key::kDelete, "Delete"}, {Key::kTab, "Tab"},
    {Key::kF1, "F1"},
};

bool SameLetters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (text.size() <= prefix.size() || !SameLetters(text.substr(0, prefix.size()), prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<Key> KeyOfCharacter(unsigned character) {
  for (const NamedKey& named : kNamed) {
    if (named.name.size() == 1 && static_cast<unsigned char>(named.name[0]) == character) {
      return named.key;
    }
  }
  return std::nullopt;
}

std::string KeyName(Key key) {
  if (key >= Key::kA && key <= Key::kZ) {
    return std::string(
        1, static_cast<char>('A' + (static_cast<int>(key) - static_cast<int>(Key::kA))));
  }
  if (key >= Key::k0 && key <= Key::k9) {
    return std::string(
        1, static_cast<char>('0' + (static_cast<int>(key) - static_cast<int>(Key::k0))));
  }
  for (const NamedKey& named : kNamed) {
    if (named.key == key) return std::string(named.name);
  }
  return "";
}

std::string KeyPressName(const KeyPress& press) {
  if (press.key == Key::kNoKey) return "";
  std::string name;
  if (press.held.control) name += "Ctrl+";
  if (press.held.shift) name += "Shift+";
  if (press.held.alt) name += "Alt+";
  return name + KeyName(press.key);
}

std::optional<KeyPress> ParseKeyPress(std::string_view name) {
  KeyPress press;
  press.held.control = TakePrefix(name, "Ctrl+");
  press.held.shift = TakePrefix(name, "Shift+");
  press.held.alt = TakePrefix(name, "Alt+");
  for (int key = static_cast<int>(Key::kA); key <= static_cast<int>(kLastKey); ++key) {
    if (!SameLetters(KeyName(static_cast<Key>(key)), name)) continue;
    press.key = static_cast<Key>(key);
    return press;
  }
  return std::nullopt;
}

}  // namespace traceinject
