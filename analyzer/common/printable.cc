// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/printable.h"

#include <cstdint>

namespace traceinject {
namespace {

// Bytes of the well-formed UTF-8 character at the front, 0 if there is none. Table 3-7 of the
// Unicode standard.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2, 0x80, 0xBF) && follows(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

// Of a well-formed character. U+0080 to U+009F are controls too: U+009B starts escape sequences as
// ESC [ does.
bool IsControl(std::string_view character) {
  const auto first = static_cast<std::uint8_t>(character[0]);
  if (first == 0xC2) return static_cast<std::uint8_t>(character[1]) < 0xA0;
  return first < 0x20 || first == 0x7F;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = CharacterLength(text);
    if (length == 0) {
      result += "\xEF\xBF\xBD";
    } else if (IsControl(text)) {
      result += ' ';
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace traceinject
