// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace traceinject {
namespace {

// Of a loss: what another order of sums brings in some dozens of steps.
constexpr double kRounding = 1e-4;

using Series = std::vector<std::vector<double>>;

// The largest |b / a - 1| of the common beginning; empty: one has no losses. What is no number on
// one side only differs without bounds.
std::optional<double> LargestChange(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t count = std::min(a.size(), b.size());
  if (count == 0) return std::nullopt;
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double change = std::abs(b[i] - a[i]) / std::max(std::abs(a[i]), 1e-12);
    largest = std::isnan(change) ? INFINITY : std::max(largest, change);
  }
  return largest;
}

std::optional<double> LargestAmong(const Series& of, const Series& against, bool same) {
  std::optional<double> largest;
  for (std::size_t i = 0; i < of.size(); ++i) {
    for (std::size_t j = same ? i + 1 : 0; j < against.size(); ++j) {
      if (const auto change = LargestChange(of[i], against[j]))
        largest = std::max(largest.value_or(0), *change);
    }
  }
  return largest;
}

std::string ChangeText(double change) {
  return std::isinf(change) ? "one is no number" : fmt::format("by up to {:.2g} %", 100 * change);
}

}  // namespace

std::vector<double> ParseLosses(std::string_view text) {
  std::vector<double> losses;
  std::string rest(text);
  const char* at = rest.c_str();
  for (char* end = nullptr; *at != '\0'; at = *end == ',' ? end + 1 : end) {
    const double loss = std::strtod(at, &end);
    if (end == at) break;
    losses.push_back(loss);
  }
  return losses;
}

LossComparison CompareLosses(const Series& as_is, const Series& changed) {
  const std::optional<double> change = LargestAmong(as_is, changed, false);
  if (!change) return {"unknown", "the program called backward() on no loss that was seen"};
  if (*change == 0) return {"equal", "to the last bit"};
  if (*change <= kRounding)
    return {"rounding",
            fmt::format("differ {}, as another order of sums makes them", ChangeText(*change))};
  const std::optional<double> noise = LargestAmong(as_is, as_is, true);
  if (noise && *change <= *noise)
    return {"within noise", fmt::format("differ {}; runs of the program as it is differ {}",
                                        ChangeText(*change), ChangeText(*noise))};
  if (!noise)
    return {"unknown", fmt::format("differ {}; whether runs of the program as it is repeat "
                                   "themselves is not known: --repeat 2 or more",
                                   ChangeText(*change))};
  return {"differ",
          fmt::format("{}; runs of the program as it is {}", ChangeText(*change),
                      *noise == 0 ? "repeat themselves" : "differ " + ChangeText(*noise))};
}

}  // namespace traceinject
