// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/credentials.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "analyzer/http/letter_case.h"

namespace traceinject {
namespace {

// Looks at every byte of `given`, whatever it is like.
bool AreEqual(std::string_view given, std::string_view secret) {
  unsigned differs = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    differs |= static_cast<unsigned char>(given[i] ^ secret[i % secret.size()]);
  return differs == 0;
}

std::optional<std::string> FromBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  unsigned held = 0, bits = 0;
  for (const char digit : text) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    held = (held << 6 | static_cast<unsigned>(value)) & 0xFFFFU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xFFU);
  }
  return bytes;
}

// All are looked at, so that time does not tell which it was.
bool IsAmong(std::string_view given, const std::vector<std::string>& secrets) {
  bool found = false;
  for (const std::string& secret : secrets) found = AreEqual(given, secret) || found;
  return found;
}

}  // namespace

Result<std::string> ReadSecret(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file) return Error{fmt::format("{}: cannot read the secret ({})", path, strerror(errno))};
  std::getline(file, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (line.empty()) return Error{fmt::format("{}: its first line has to be the secret", path)};
  return line;
}

Result<std::string> MakeSecret() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes)))
    return Error{fmt::format("no random numbers for a token ({})", strerror(errno))};
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool Credentials::Admit(std::string_view authorization) const {
  const std::size_t end = std::min(authorization.find(' '), authorization.size());
  const std::string scheme = LowerCase(authorization.substr(0, end));
  std::string_view value = authorization.substr(end);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (scheme == "bearer") return IsAmong(value, tokens_);
  if (scheme != "basic") return false;
  const std::optional<std::string> pair = FromBase64(value);
  if (!pair) return false;
  const std::size_t colon = pair->find(':');
  if (colon == std::string::npos) return false;
  const bool is_user = IsAmong(*pair, users_);
  return IsAmong(std::string_view(*pair).substr(colon + 1), tokens_) || is_user;
}

}  // namespace traceinject
