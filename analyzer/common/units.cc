// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/units.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include "analyzer/common/whole.h"

namespace traceinject {
namespace {

// Decimals that leave four significant digits of a value in [0, 1000).
int Decimals(double value) {
  const double magnitude = std::abs(value);
  return magnitude < 10 ? 3 : magnitude < 100 ? 2 : 1;
}

struct Step {
  double factor;
  const char* unit;
};

// The largest unit in which the value, rounded to four digits, is still at least 1.
template <std::size_t kCount>
std::string WithUnit(double value, const std::array<Step, kCount>& steps) {
  for (const Step& step : steps) {
    const double scaled = value / step.factor;
    // 999.95 would print as "1000.0" of the smaller unit.
    if (std::abs(scaled) >= 0.99995)
      return fmt::format("{:.{}f} {}", scaled, Decimals(scaled), step.unit);
  }
  return fmt::format("{:.0f} {}", value / steps.back().factor, steps.back().unit);
}

constexpr std::array<Step, 5> kByteSteps = {
    {{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};

std::string ScaledBytes(double bytes, const char* suffix) {
  if (std::abs(bytes) < 1e3) return fmt::format("{:.0f} B{}", bytes, suffix);
  return WithUnit(bytes, kByteSteps) + suffix;
}

}  // namespace

std::string FormatTime(std::int64_t time_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (time_ns < 0) {
    if (time_ns == std::numeric_limits<std::int64_t>::min()) return "-292 years";
    return fmt::format("-{}", FormatTime(-time_ns));
  }
  if (time_ns < 1'000) return fmt::format("{} ns", time_ns);
  if (time_ns < 120 * kSecond) {
    constexpr std::array<Step, 3> kSteps = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
    return WithUnit(static_cast<double>(time_ns), kSteps);
  }
  const std::int64_t seconds = (time_ns + kSecond / 2) / kSecond;
  if (seconds < 7200) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

std::string Rounded(double time_ns) { return FormatTime(Whole(time_ns)); }

std::string FormatBytes(std::int64_t bytes) { return ScaledBytes(static_cast<double>(bytes), ""); }

std::string FormatRate(std::int64_t bytes, std::int64_t time_ns) {
  if (time_ns <= 0) return "unknown";
  return ScaledBytes(static_cast<double>(bytes) * 1e9 / static_cast<double>(time_ns), "/s");
}

std::string FormatShare(std::int64_t part, std::int64_t whole, int decimals) {
  if (whole == 0) return "unknown";
  return fmt::format("{:.{}f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole),
                     decimals);
}

std::string Percent(double share, int decimals) {
  return fmt::format("{:.{}f} %", 100 * share, decimals);
}

std::string FormatCount(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string FormatDate(std::int64_t unix_ns) {
  std::int64_t seconds = unix_ns / 1'000'000'000;
  if (unix_ns % 1'000'000'000 < 0) --seconds;
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

Result<std::int64_t> ParseDate(std::string_view text) {
  // Digits stand where the pattern has them; the rest is as it is.
  constexpr std::string_view kPattern = "0000-00-00 00:00";
  constexpr std::size_t kDay = 10;
  const Error wrong{fmt::format("'{}' is not a date such as 2026-08-01 or 2026-08-01T12:34", text)};
  if (text.size() != kDay && text.size() != kPattern.size()) return wrong;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool fits = kPattern[i] == '0'   ? text[i] >= '0' && text[i] <= '9'
                      : kPattern[i] == ' ' ? text[i] == ' ' || text[i] == 'T'
                                           : text[i] == kPattern[i];
    if (!fits) return wrong;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (std::size_t i = at; i < at + digits; ++i) value = 10 * value + (text[i] - '0');
    return value;
  };
  const std::chrono::year_month_day day(std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2))));
  const int hour = text.size() > kDay ? number(11, 2) : 0;
  const int minute = text.size() > kDay ? number(14, 2) : 0;
  // Beyond, nanoseconds do not fit.
  const bool fits = number(0, 4) >= 1970 && number(0, 4) <= 2200;
  if (!fits || !day.ok() || hour > 23 || minute > 59) return wrong;
  const std::chrono::seconds since = std::chrono::sys_days(day).time_since_epoch() +
                                     std::chrono::hours(hour) + std::chrono::minutes(minute);
  return std::chrono::nanoseconds(since).count();
}

Result<std::int64_t> ParseTime(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  double factor = 0;
  if (unit.empty() || unit == "s") factor = 1e9;
  if (unit == "ms") factor = 1e6;
  if (unit == "us") factor = 1e3;
  if (unit == "ns") factor = 1;
  if (unit == "min") factor = 60e9;
  const double scaled = std::round(value * factor);
  if (code != std::errc() || factor == 0 || !std::isfinite(scaled)) {
    return Error{
        fmt::format("'{}' is not a valid time: use seconds, or a number with ns, us, ms, s or min, "
                    "such as 1.5s or 200ms",
                    text)};
  }
  if (std::abs(scaled) > 4e18) return Error{fmt::format("'{}' is longer than 100 years", text)};
  return static_cast<std::int64_t>(scaled);
}

std::string SecondsText(std::int64_t time_ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const bool negative = time_ns < 0;
  const auto size =
      negative ? 0 - static_cast<std::uint64_t>(time_ns) : static_cast<std::uint64_t>(time_ns);
  std::string text = fmt::format("{}{}.{:09}", negative ? "-" : "", size / kSecond, size % kSecond);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "s";
}

}  // namespace traceinject
