// SPDX-License-Identifier: Apache-2.0
// Quantities as people read and write them. All text is ASCII.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/common/result.h"

namespace traceinject {

// Four significant digits with the unit that fits: "850 ns", "12.35 us", "1.234 s", "12 min 03 s".
std::string FormatTime(std::int64_t time_ns);
// Likewise of a mean, rounded to whole nanoseconds.
std::string Rounded(double time_ns);
// Decimal units as GPU makers use them: "512 B", "1.500 kB", "141.0 GB".
std::string FormatBytes(std::int64_t bytes);
// "141.0 GB/s"; "unknown" when there is no time.
std::string FormatRate(std::int64_t bytes, std::int64_t time_ns);
// part / whole as "12.345 %" with the given decimals; "unknown" when the whole is 0.
std::string FormatShare(std::int64_t part, std::int64_t whole, int decimals = 1);
// "12.3 %" of 0.123.
std::string Percent(double share, int decimals = 1);
// With thousands separators: "1,234,567".
std::string FormatCount(std::int64_t count);
// "2026-08-01 12:34:56 UTC" from ns since the epoch.
std::string FormatDate(std::int64_t unix_ns);

// "2026-08-01", or "2026-08-01 12:34" (or with a T between), in UTC: ns since the epoch.
Result<std::int64_t> ParseDate(std::string_view text);

// "1.5", "1.5s", "200ms", "30us", "7ns", "2min": a time in ns, seconds when no unit is given. May
// be negative.
Result<std::int64_t> ParseTime(std::string_view text);
// A time for ParseTime, exact, without a digit too many: "1.5s".
std::string SecondsText(std::int64_t time_ns);

}  // namespace traceinject
