// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

// The smallest of 1, 2, 2.5, 5 times a power of ten that is no smaller than `least`.
double RoundStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    // Of logarithms a little is lost.
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// "20 ms" of "20.00 ms".
std::string WithoutZeros(std::string text) {
  const std::size_t unit = std::min(text.find(' '), text.size());
  if (text.find('.') >= unit) return text;
  const std::size_t last = text.find_last_not_of('0', unit - 1);
  text.erase(last + 1, unit - last - 1);
  if (text[last] == '.') text.erase(last, 1);
  return text;
}

constexpr int kLinearTicks = 5;

}  // namespace

double Scale::Place(double value) const {
  if (!(high > low)) return 0;
  const double place = logarithmic ? (std::log10(std::max(value, low)) - std::log10(low)) /
                                         (std::log10(high) - std::log10(low))
                                   : (value - low) / (high - low);
  return std::clamp(place, 0.0, 1.0);
}

Scale FromZero(double highest) {
  if (!(highest > 0) || !std::isfinite(highest)) return {0, 1, false};
  const double step = RoundStep(highest / kLinearTicks);
  return {0, step * std::ceil(highest / step * (1 - 1e-9)), false};
}

Scale PowersOfTen(double lowest, double highest) {
  if (!(lowest > 0) || !std::isfinite(highest)) return {1, 10, true};
  const double low = std::pow(10, std::floor(std::log10(lowest)));
  return {low, std::max(10 * low, std::pow(10, std::ceil(std::log10(highest)))), true};
}

std::vector<Tick> TicksOf(const Scale& scale, int most, std::string (*text)(double)) {
  std::vector<Tick> ticks;
  if (scale.logarithmic) {
    const int decades =
        static_cast<int>(std::lround(std::log10(scale.high) - std::log10(scale.low)));
    const int each = decades / most + 1;
    // Between few powers there is room for more.
    const std::vector<double> factors =
        decades <= 2 ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
    for (int decade = 0; decade <= decades; decade += each) {
      for (const double factor : factors) {
        const double value = scale.low * std::pow(10, decade) * factor;
        if (value <= scale.high * (1 + 1e-9)) ticks.push_back({scale.Place(value), text(value)});
      }
    }
    return ticks;
  }
  const double step = RoundStep((scale.high - scale.low) / most);
  const auto first = static_cast<std::int64_t>(std::ceil(scale.low / step));
  for (std::int64_t i = first; static_cast<double>(i) * step <= scale.high * (1 + 1e-9); ++i) {
    const double value = static_cast<double>(i) * step;
    ticks.push_back({scale.Place(value), text(value)});
  }
  return ticks;
}

std::string TimeTick(double ns) {
  return ns == 0 ? "0" : WithoutZeros(FormatTime(std::llround(ns)));
}

std::string BytesTick(double bytes) {
  return bytes == 0 ? "0" : WithoutZeros(FormatBytes(std::llround(bytes)));
}

std::string PlainTick(double value) {
  return std::abs(value) >= 1000 ? FormatCount(std::llround(value)) : fmt::format("{:.4g}", value);
}

}  // namespace traceinject
