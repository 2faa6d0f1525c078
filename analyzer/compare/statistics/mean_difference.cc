// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/mean_difference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/common/mean.h"
#include "analyzer/compare/statistics/autocorrelation.h"
#include "analyzer/compare/statistics/student_t.h"

namespace traceinject {
namespace {

constexpr std::size_t kMinBlocks = 6;
constexpr double kOutside = 0.05;  // of a 95 % interval

// How far a mean may be off.
struct MeanError {
  double variance = 0;  // of the mean
  double degrees = 0;   // of freedom, of that variance
  std::size_t block = 1;
  double half_width = 0;
};

// Means of `blocks` blocks of neighbors, as equal in length as can be.
std::vector<double> BlockMeans(const std::vector<double>& values, std::size_t blocks) {
  std::vector<double> means;
  means.reserve(blocks);
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / blocks);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / blocks);
    means.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  }
  return means;
}

MeanError ErrorOfBlocks(const std::vector<double>& values, std::size_t block) {
  const std::vector<double> means = BlockMeans(values, values.size() / block);
  const double count = static_cast<double>(means.size()), middle = Mean(means);
  MeanError error;
  for (const double mean : means) error.variance += (mean - middle) * (mean - middle);
  error.variance /= (count - 1) * count;
  error.degrees = count - 1;
  error.block = block;
  error.half_width = std::sqrt(error.variance) * TwoSidedT(kOutside, error.degrees);
  return error;
}

// As if each value held a share of the one before: so many fewer of them are independent.
MeanError ErrorOfCorrelated(const std::vector<double>& values) {
  const double each_counts_for = ValuesForOne(values);
  MeanError error = ErrorOfBlocks(values, 1);
  const double independent = static_cast<double>(values.size()) / each_counts_for;
  error.variance *= each_counts_for;
  error.degrees = std::max(1.0, independent - 1);
  error.half_width = std::sqrt(error.variance) * TwoSidedT(kOutside, error.degrees);
  return error;
}

// By the way that tells of the largest error.
MeanError ErrorOfMean(const std::vector<double>& values) {
  MeanError widest = ErrorOfCorrelated(values);
  for (std::size_t block = 2; values.size() / block >= kMinBlocks; block *= 2) {
    const MeanError error = ErrorOfBlocks(values, block);
    if (error.half_width > widest.half_width) widest = error;
  }
  return widest;
}

}  // namespace

const std::string_view kDifferenceMethod =
    "Intervals (95 %) and p-values of changes: Welch's t (Biometrika 34, 1947) on means of blocks "
    "of neighboring steps (batch means: Schmeiser, Operations Research 30(3), 1982), of as many "
    "steps as make the interval widest, or allowing for autocorrelation of successive steps, if "
    "that is wider. They reflect how steps of these two recordings vary, not how recordings of the "
    "same program vary. p-values of kernels are adjusted for the number of kernels compared "
    "(Benjamini and Hochberg, J. R. Stat. Soc. B 57, 1995).";

MeanDifference DifferenceOfMeans(const std::vector<double>& before,
                                 const std::vector<double>& after) {
  MeanDifference found;
  found.before = Mean(before);
  found.after = Mean(after);
  if (before.size() < kMinValues || after.size() < kMinValues) return found;
  const MeanError a = ErrorOfMean(before), b = ErrorOfMean(after);
  found.block = std::max(a.block, b.block);
  const double variance = a.variance + b.variance, change = found.change();
  if (variance <= 0) {
    found.interval = Bounds{change, change};
    found.p = change == 0 ? 1 : 0;
    return found;
  }
  // Welch and Satterthwaite.
  const double degrees =
      variance * variance /
      (a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees);
  const double error = std::sqrt(variance), half = error * TwoSidedT(kOutside, degrees);
  found.interval = Bounds{change - half, change + half};
  found.p = TwoSidedP(change / error, degrees);
  return found;
}

}  // namespace traceinject
