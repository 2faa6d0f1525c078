// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/name_filter.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceinject {

constexpr std::size_t kMaxMatched = 2048;

Result<NameFilter> NameFilter::Parse(const std::string& text) {
  NameFilter filter;
  filter.literal_ = text;
  if (text.find_first_of("\\^$.|?*+()[]{}") == std::string::npos) return filter;
  try {
    filter.regex_.emplace(text);
  } catch (const std::regex_error& error) {
    return Error{fmt::format(
        "'{}' is not a valid regular expression ({}); escape special characters with a backslash",
        text, error.what())};
  }
  return filter;
}

bool NameFilter::Matches(const std::string& name) const {
  if (!regex_) return name.find(literal_) != std::string::npos;
  const auto end = name.begin() + static_cast<std::ptrdiff_t>(std::min(name.size(), kMaxMatched));
  try {
    return std::regex_search(name.begin(), end, *regex_);
  } catch (const std::regex_error&) {
    return false;  // it is too complex for this name
  }
}

}  // namespace traceinject
