// SPDX-License-Identifier: Apache-2.0
#include "injector/options/duration.h"

#include <charconv>

namespace traceinject {

bool ParseDuration(std::string_view text, std::int64_t* ns) {
  if (text.empty()) return false;
  std::int64_t seconds_each = 0, value = 0;
  switch (text.back()) {
    case 's':
      seconds_each = 1;
      break;
    case 'm':
      seconds_each = 60;
      break;
    case 'h':
      seconds_each = 3600;
      break;
    default:
      return false;
  }
  text.remove_suffix(1);
  const std::int64_t unit = seconds_each * 1'000'000'000;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (value < 0 || value > INT64_MAX / unit) return false;
  *ns = value * unit;
  return true;
}

}  // namespace traceinject
