// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/code_lines.h"

#include <cstddef>

namespace traceinject {
namespace {

constexpr std::int64_t kMaxLines = 100'000'000;  // of a file; beyond, it is no line

std::int64_t LineOrNone(std::int64_t line) { return line > 0 && line < kMaxLines ? line : 0; }

// Pairs of what the address and the line grow by.
std::int64_t LineOfPairs(std::string_view table, std::int64_t line, std::int64_t offset) {
  std::int64_t address = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    address += static_cast<std::uint8_t>(table[i]);
    if (address > offset) break;
    line += static_cast<std::int8_t>(table[i + 1]);
  }
  return LineOrNone(line);
}

// The same, but a pair is about the addresses that it covers, and may say that they have no line.
std::int64_t LineOfRanges(std::string_view table, std::int64_t line, std::int64_t offset) {
  constexpr int kNoLine = -128;
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    end += static_cast<std::uint8_t>(table[i]);
    const int grows = static_cast<std::int8_t>(table[i + 1]);
    if (grows != kNoLine) line += grows;
    if (offset < end) return grows == kNoLine ? 0 : LineOrNone(line);
  }
  return 0;
}

// Six bits a byte, the lowest first; the lowest of all is the sign. More than 36 bits are no number
// of lines, and passed over as what follows an entry: what a table adds up to fits.
std::int64_t ReadSignedVarint(std::string_view table, std::size_t* at) {
  std::uint64_t value = 0;
  for (int shift = 0; *at < table.size() && shift < 36; shift += 6) {
    const auto byte = static_cast<std::uint8_t>(table[(*at)++]);
    value |= static_cast<std::uint64_t>(byte & 63) << shift;
    if ((byte & 64) == 0) break;
  }
  const auto size = static_cast<std::int64_t>(value >> 1);
  return (value & 1) != 0 ? -size : size;
}

// Entries that begin with a byte whose highest bit is set.
std::int64_t LineOfLocations(std::string_view table, std::int64_t line, std::int64_t offset) {
  constexpr int kUnitBytes = 2, kOneLine = 10, kNoColumns = 13, kLong = 14, kNone = 15;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < table.size();) {
    const auto head = static_cast<std::uint8_t>(table[i++]);
    if ((head & 128) == 0) return 0;
    const int form = head >> 3 & 15;
    end += ((head & 7) + 1) * kUnitBytes;
    if (form >= kOneLine && form < kNoColumns) {
      line += form - kOneLine;
    } else if (form == kNoColumns || form == kLong) {
      line += ReadSignedVarint(table, &i);
    }
    if (offset < end) return form == kNone ? 0 : LineOrNone(line);
    while (i < table.size() && (static_cast<std::uint8_t>(table[i]) & 128) == 0) ++i;
  }
  return 0;
}

}  // namespace

std::int64_t LineOfInstruction(PythonLayout::Lines form, std::string_view table,
                               std::int64_t first_line, std::int64_t offset) {
  if (offset < 0) return LineOrNone(first_line);  // it has not begun
  switch (form) {
    case PythonLayout::Lines::kPairs:
      return LineOfPairs(table, first_line, offset);
    case PythonLayout::Lines::kRanges:
      return LineOfRanges(table, first_line, offset);
    case PythonLayout::Lines::kLocations:
      return LineOfLocations(table, first_line, offset);
  }
  return 0;
}

}  // namespace traceinject
