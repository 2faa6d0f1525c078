// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/level_changes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/common/median.h"

namespace traceinject {
namespace {

constexpr std::size_t kReach = 2;            // of the running median, to both sides
constexpr std::size_t kUsualQuarter = 4;     // the usual level: this part of all values is below it
constexpr std::size_t kMaxInterruption = 4;  // values between two spells that are one
constexpr double kMinDeviations = 3, kMadScale = 1.4826;  // of a normal distribution
constexpr double kSeparated = 0.8;  // of the values on their side of the middle

std::vector<double> RunningMedian(const std::vector<double>& series) {
  std::vector<double> medians;
  medians.reserve(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::size_t from = i < kReach ? 0 : i - kReach,
                      to = std::min(series.size(), i + kReach + 1);
    medians.push_back(
        Median(std::vector<double>(series.begin() + static_cast<std::ptrdiff_t>(from),
                                   series.begin() + static_cast<std::ptrdiff_t>(to))));
  }
  return medians;
}

double LowerQuartile(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / kUsualQuarter);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<RaisedSpell> Above(const std::vector<double>& medians, double limit) {
  std::vector<RaisedSpell> spells;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    if (medians[i] <= limit) continue;
    if (!spells.empty() && i - spells.back().to <= kMaxInterruption) {
      spells.back().to = i + 1;
    } else {
      spells.push_back({i, i + 1, 0});
    }
  }
  return spells;
}

std::vector<double> Inside(const std::vector<double>& series, const RaisedSpell& spell) {
  return {series.begin() + static_cast<std::ptrdiff_t>(spell.from),
          series.begin() + static_cast<std::ptrdiff_t>(spell.to)};
}

std::vector<double> Outside(const std::vector<double>& series,
                            const std::vector<RaisedSpell>& spells) {
  std::vector<double> values;
  std::size_t at = 0;
  for (const RaisedSpell& spell : spells) {
    values.insert(values.end(), series.begin() + static_cast<std::ptrdiff_t>(at),
                  series.begin() + static_cast<std::ptrdiff_t>(spell.from));
    at = spell.to;
  }
  values.insert(values.end(), series.begin() + static_cast<std::ptrdiff_t>(at), series.end());
  return values;
}

double Deviation(std::vector<double> values, double median) {
  for (double& value : values) value = std::abs(value - median);
  return kMadScale * Median(std::move(values));
}

double ShareAbove(const std::vector<double>& values, double middle) {
  const auto above =
      std::count_if(values.begin(), values.end(), [&](double value) { return value > middle; });
  return static_cast<double>(above) / static_cast<double>(values.size());
}

// The running median moves the ends of a spell by up to its reach.
void Trim(const std::vector<double>& series, double middle, RaisedSpell& spell) {
  while (spell.from > 0 && series[spell.from - 1] > middle) --spell.from;
  while (spell.to < series.size() && series[spell.to] > middle) ++spell.to;
  while (spell.to - spell.from > 1 && series[spell.from] <= middle) ++spell.from;
  while (spell.to - spell.from > 1 && series[spell.to - 1] <= middle) --spell.to;
}

}  // namespace

std::vector<RaisedSpell> FindRaisedSpells(const std::vector<double>& series) {
  if (series.size() < 2 * kMinSpellSteps) return {};
  const std::vector<double> medians = RunningMedian(series);
  std::vector<RaisedSpell> spells = Above(medians, LowerQuartile(medians) + kMinSpellChange / 2);
  const std::vector<double> rest = Outside(series, spells);
  if (rest.size() < kMinSpellSteps) return {};
  const double usual = Median(rest);
  const double least = std::max(kMinSpellChange, kMinDeviations * Deviation(rest, usual));
  std::erase_if(spells, [&](RaisedSpell& spell) {
    const double middle = (usual + Median(Inside(series, spell))) / 2;
    Trim(series, middle, spell);
    const std::vector<double> inside = Inside(series, spell);
    spell.change = Median(inside) - usual;
    return inside.size() < kMinSpellSteps || spell.change < least ||
           ShareAbove(inside, middle) < kSeparated || ShareAbove(rest, middle) > 1 - kSeparated;
  });
  return spells;
}

}  // namespace traceinject
