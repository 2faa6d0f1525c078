// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/tried_savings.h"

#include <algorithm>
#include <cmath>

#include "analyzer/common/mean.h"
#include "analyzer/compare/statistics/mean_difference.h"
#include "analyzer/compare/statistics/student_t.h"

namespace traceinject {
namespace {

using Runs = std::vector<std::vector<double>>;

constexpr double kOutside = 0.05;

std::vector<double> MeansOf(const Runs& runs) {
  std::vector<double> means;
  for (const std::vector<double>& run : runs) means.push_back(Mean(run));
  return means;
}

double SquaresAround(const std::vector<double>& values, double middle) {
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum;
}

// Half of the interval by how runs scatter; 0: there are too few.
double HalfByRuns(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return 0;
  const auto count_a = static_cast<double>(a.size()), count_b = static_cast<double>(b.size());
  const double degrees = count_a + count_b - 2;
  const double variance = (SquaresAround(a, Mean(a)) + SquaresAround(b, Mean(b))) / degrees;
  return TwoSidedT(kOutside, degrees) * std::sqrt(variance * (1 / count_a + 1 / count_b));
}

// By how steps scatter around the mean of their run; empty: too few.
std::optional<double> HalfBySteps(const Runs& as_is, const Runs& changed) {
  double squares_of_errors = 0;
  for (const Runs* runs : {&as_is, &changed}) {
    for (const std::vector<double>& run : *runs) {
      // Of the run against values that are all its mean.
      const MeanDifference own = DifferenceOfMeans(std::vector<double>(kMinValues, Mean(run)), run);
      if (!own.interval) return std::nullopt;
      const double half = (own.interval->high - own.interval->low) / 2;
      const auto count = static_cast<double>(runs->size());
      squares_of_errors += half * half / (count * count);
    }
  }
  return std::sqrt(squares_of_errors);
}

}  // namespace

const std::string_view kTriedSavingMethod =
    "Measured intervals (95 %): Student's t on the mean steps of the runs, with the variance of "
    "both "
    "kinds pooled, and never narrower than the scatter of the steps within the runs allows (batch "
    "means: Schmeiser, Operations Research 30(3), 1982). With a single run of each it is that of "
    "the steps alone, and what differs from run to run is not in it.";

TriedSaving SavingOf(const Runs& as_is, const Runs& changed) {
  const std::vector<double> before = MeansOf(as_is), after = MeansOf(changed);
  TriedSaving found{Mean(before) - Mean(after), std::nullopt};
  const double by_runs = HalfByRuns(before, after);
  const std::optional<double> by_steps = HalfBySteps(as_is, changed);
  if (by_runs == 0 && !by_steps) return found;
  const double half = std::max(by_runs, by_steps.value_or(0));
  found.interval = Bounds{found.saved_ns - half, found.saved_ns + half};
  return found;
}

}  // namespace traceinject
