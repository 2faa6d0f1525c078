// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

struct UnitRow {
  FigureUnit unit;
  std::string_view name;
};
constexpr UnitRow kUnits[] = {
    {FigureUnit::kMs, "ms"},       {FigureUnit::kShare, "share"},   {FigureUnit::kRatio, "ratio"},
    {FigureUnit::kBytes, "bytes"}, {FigureUnit::kPerSecond, "1/s"}, {FigureUnit::kMhz, "MHz"},
    {FigureUnit::kWatt, "W"},      {FigureUnit::kCount, "count"},
};

// What may follow the number of a condition, and what it stands for.
struct Suffix {
  FigureUnit unit;
  std::string_view text;
  double factor;
};
constexpr Suffix kSuffixes[] = {
    {FigureUnit::kMs, "ms", 1},          {FigureUnit::kMs, "us", 1e-3},
    {FigureUnit::kMs, "s", 1e3},         {FigureUnit::kShare, "%", 1e-2},
    {FigureUnit::kBytes, "B", 1},        {FigureUnit::kBytes, "kB", 1e3},
    {FigureUnit::kBytes, "MB", 1e6},     {FigureUnit::kBytes, "GB", 1e9},
    {FigureUnit::kBytes, "KiB", 0x1p10}, {FigureUnit::kBytes, "MiB", 0x1p20},
    {FigureUnit::kBytes, "GiB", 0x1p30}, {FigureUnit::kPerSecond, "/s", 1},
    {FigureUnit::kMhz, "MHz", 1},        {FigureUnit::kMhz, "GHz", 1e3},
    {FigureUnit::kWatt, "W", 1},
};

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

// "; it may be followed by ms, us or s".
std::string SuffixHelp(FigureUnit unit) {
  std::string help;
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.unit == unit) help += fmt::format("{}{}", help.empty() ? "" : ", ", suffix.text);
  }
  return help.empty() ? "" : "; it may be followed by " + help;
}

}  // namespace

std::string_view UnitName(FigureUnit unit) {
  return std::find_if(std::begin(kUnits), std::end(kUnits),
                      [&](const UnitRow& row) { return row.unit == unit; })
      ->name;
}

FigureUnit UnitOfName(std::string_view name) {
  const auto found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                  [&](const UnitRow& row) { return row.name == name; });
  return found == std::end(kUnits) ? FigureUnit::kCount : found->unit;
}

std::string FigureText(FigureUnit unit, double value) {
  switch (unit) {
    case FigureUnit::kMs:
      return FormatTime(std::llround(value * 1e6));
    case FigureUnit::kShare:
      return fmt::format("{:.2f} %", 100 * value);
    case FigureUnit::kRatio:
      return fmt::format("{:.3f}", value);
    case FigureUnit::kBytes:
      return FormatBytes(std::llround(value));
    case FigureUnit::kPerSecond:
      return fmt::format("{:.1f} /s", value);
    case FigureUnit::kMhz:
      return fmt::format("{:.0f} MHz", value);
    case FigureUnit::kWatt:
      return fmt::format("{:.1f} W", value);
    case FigureUnit::kCount:
      break;
  }
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

Result<double> ParseFigure(FigureUnit unit, std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  const std::string_view suffix =
      Trimmed(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  double factor = suffix.empty() ? 1 : 0;
  for (const Suffix& known : kSuffixes) {
    if (known.unit == unit && known.text == suffix) factor = known.factor;
  }
  // Larger ones are written by mistake, and would not fit into what is printed.
  constexpr double kMax = 1e12;
  if (code != std::errc() || factor == 0 || !(std::abs(value) <= kMax))
    return Error{
        fmt::format("'{}' is not a number in {}{}", text, UnitName(unit), SuffixHelp(unit))};
  return value * factor;
}

}  // namespace traceinject
