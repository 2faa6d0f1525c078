// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/link_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "analyzer/common/units.h"
#include "analyzer/http/url_text.h"

namespace traceinject {

void AddToLink(std::string_view name, std::string_view value, std::string& link) {
  link += fmt::format("{}{}={}", link.empty() ? "" : "&", name, value);
}

std::map<std::string, std::string> LinkParts(std::string_view link) {
  std::map<std::string, std::string> parts;
  while (!link.empty()) {
    const std::string_view part = link.substr(0, link.find('&'));
    link.remove_prefix(std::min(part.size() + 1, link.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::optional<std::string> value = PercentDecoded(part.substr(equals + 1));
    if (value) parts.emplace(part.substr(0, equals), *value);
  }
  return parts;
}

std::optional<TimeNs> TimeOfLink(std::string_view text) {
  const Result<std::int64_t> time = ParseTime(text);
  // Farther than any recording reaches sums would not hold.
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  if (!time.ok() || time.value() > kFar || time.value() < -kFar) return std::nullopt;
  return time.value();
}

std::optional<std::pair<TimeNs, TimeNs>> TimesOfLink(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto from = TimeOfLink(text.substr(0, dots)), to = TimeOfLink(text.substr(dots + 2));
  if (!from || !to || *from >= *to) return std::nullopt;
  return std::pair(*from, *to);
}

}  // namespace traceinject
