// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/base64.h"

namespace traceinject {

std::string Base64OfHex(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto value = [](char digit) -> unsigned {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  };
  std::string text;
  unsigned bits = 0, held = 0;
  for (const char digit : hex) {
    held = (held << 4 | value(digit)) & 0xFFFU;
    bits += 4;
    if (bits < 6) continue;
    bits -= 6;
    text += kDigits[held >> bits & 0x3FU];
  }
  if (bits > 0) text += kDigits[held << (6 - bits) & 0x3FU];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

}  // namespace traceinject
