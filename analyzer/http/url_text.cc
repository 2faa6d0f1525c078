// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/url_text.h"

#include <fmt/format.h>

#include <charconv>

namespace traceinject {

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() < 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

std::string PercentEncoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string encoded;
  for (const char letter : text) {
    if (kPlain.find(letter) != std::string_view::npos)
      encoded += letter;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return encoded;
}

}  // namespace traceinject
