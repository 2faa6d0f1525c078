// SPDX-License-Identifier: Apache-2.0
// Characters and sets of words, whatever the program's locale is.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace traceinject {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline char Lower(char c) { return IsUpper(c) ? static_cast<char>(c + 32) : c; }
inline bool IsAlnum(char c) { return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'z'); }
inline bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

inline std::string InLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

template <std::size_t count>
bool Has(const std::string_view (&set)[count], std::string_view one) {
  return std::find(std::begin(set), std::end(set), one) != std::end(set);
}

}  // namespace traceinject
