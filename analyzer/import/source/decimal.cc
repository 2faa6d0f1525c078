// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/decimal.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "analyzer/common/digit.h"

namespace traceinject {
namespace {

// Digits with the decimal point left out, and how many of them stood after it.
struct Mantissa {
  std::uint64_t value = 0;
  int exponent = 0;  // of ten
  bool any = false;
};

// More digits than 19 change nothing that fits; they only move the point.
void AddDigit(char digit, bool after_point, Mantissa& mantissa) {
  constexpr std::uint64_t kFull = 1'000'000'000'000'000'000;
  mantissa.any = true;
  if (mantissa.value >= kFull) {
    mantissa.exponent += after_point ? 0 : 1;
    return;
  }
  mantissa.value = 10 * mantissa.value + static_cast<std::uint64_t>(digit - '0');
  mantissa.exponent -= after_point ? 1 : 0;
}

std::optional<std::int64_t> Scale(std::uint64_t value, int exponent) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (value == 0) return 0;
  for (; exponent > 0; --exponent) {
    if (value > kLargest / 10) return std::nullopt;
    value *= 10;
  }
  if (exponent < -19) return 0;
  std::uint64_t last = 0;
  for (; exponent < 0; ++exponent) {
    last = value % 10;
    value /= 10;
  }
  value += last >= 5 ? 1 : 0;
  if (value > kLargest) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// What nearly all are: digits, and no more of them behind the point than the shift takes up. Empty:
// the text is another, or the number may be too large.
std::optional<std::int64_t> ParsePlain(std::string_view text, int shift) {
  constexpr std::size_t kFitting = 18;
  if (text.size() > kFitting) return std::nullopt;
  std::int64_t value = 0;
  std::size_t at = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) value = 10 * value + (text[at] - '0');
  if (at == 0) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    for (++at; shift > 0 && at < text.size() && IsDigit(text[at]); ++at, --shift)
      value = 10 * value + (text[at] - '0');
  }
  if (at != text.size()) return std::nullopt;
  for (; shift > 0; --shift) {
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<std::int64_t> ParseDecimal(std::string_view text, int shift) {
  if (const auto plain = ParsePlain(text, shift)) return plain;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  Mantissa mantissa;
  std::size_t at = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) AddDigit(text[at], false, mantissa);
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && IsDigit(text[at]); ++at) AddDigit(text[at], true, mantissa);
  }
  if (!mantissa.any) return std::nullopt;
  int exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && text[at] == '+') ++at;
    const auto [rest, code] =
        std::from_chars(text.data() + at, text.data() + text.size(), exponent);
    if (code != std::errc() || rest == text.data() + at) return std::nullopt;
    at = static_cast<std::size_t>(rest - text.data());
  }
  if (at != text.size()) return std::nullopt;
  constexpr int kFarthest = 1000;
  const auto value =
      Scale(mantissa.value, std::clamp(exponent, -kFarthest, kFarthest) +
                                std::clamp(mantissa.exponent, -kFarthest, kFarthest) + shift);
  return value && negative ? -*value : value;
}

}  // namespace traceinject
