// SPDX-License-Identifier: Apache-2.0
#include "injector/store/output_name.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string_view>

namespace traceinject {
namespace {

constexpr int kMaxWidth = 20;  // digits of the longest 64-bit number

struct Conversion {
  char letter;
  int width;           // 0: none given
  std::size_t length;  // characters, with the percent sign
};

// The conversion at the start of `text`, which begins with a percent sign; nothing if it is none of
// ours.
std::optional<Conversion> ParseConversion(std::string_view text) {
  std::size_t at = 1;
  int width = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    width = std::min(width * 10 + (text[at] - '0'), kMaxWidth);
    ++at;
  }
  if (at == text.size()) return std::nullopt;
  const char letter = text[at];
  const bool number = letter == 'r' || letter == 'p';
  const bool plain = letter == 'h' || letter == 't' || letter == '%';
  if (!number && !(plain && at == 1)) return std::nullopt;
  return Conversion{letter, width, at + 1};
}

std::string Number(std::int64_t value, int width) {
  char text[kMaxWidth + 2];
  std::snprintf(text, sizeof text, "%0*lld", width, static_cast<long long>(value));
  return text;
}

std::string StartTime(std::time_t start) {
  std::tm utc{};
  char text[32];
  if (gmtime_r(&start, &utc) == nullptr ||
      std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &utc) == 0) {
    return "unknown-time";
  }
  return text;
}

// A host name is one path component at most.
std::string HostComponent(std::string host) {
  std::replace(host.begin(), host.end(), '/', '_');
  return host;
}

std::string Expand(const Conversion& conversion, const OutputName& name) {
  switch (conversion.letter) {
    case 'r':
      return Number(std::max(name.rank, 0), conversion.width);
    case 'p':
      return Number(name.pid, conversion.width);
    case 'h':
      return HostComponent(name.host);
    case 't':
      return StartTime(name.start);
    default:
      return "%";
  }
}

bool TellsProcessesApart(std::string_view pattern) {
  for (std::size_t at = 0; at < pattern.size();) {
    const auto conversion = pattern[at] == '%' ? ParseConversion(pattern.substr(at)) : std::nullopt;
    if (conversion && (conversion->letter == 'r' || conversion->letter == 'p')) return true;
    at += conversion ? conversion->length : 1;
  }
  return false;
}

// Where the extension of the last component begins; the end if it has none. A leading dot hides a
// file, it is no extension.
std::size_t ExtensionAt(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t component = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos || dot <= component ? path.size() : dot;
}

bool OneOfSeveral(const OutputName& name) { return name.rank >= 0 && name.world_size != 1; }

}  // namespace

std::string ExpandOutputName(const OutputName& name) {
  std::string pattern = name.pattern;
  if (OneOfSeveral(name) && !TellsProcessesApart(pattern)) {
    pattern.insert(ExtensionAt(pattern), ".rank%05r");
  }
  std::string path;
  for (std::size_t at = 0; at < pattern.size();) {
    const auto conversion =
        pattern[at] == '%' ? ParseConversion(std::string_view(pattern).substr(at)) : std::nullopt;
    if (conversion) {
      path += Expand(*conversion, name);
      at += conversion->length;
    } else {
      path += pattern[at++];
    }
  }
  return path;
}

}  // namespace traceinject
