// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace traceinject {
namespace {

// Of the largest element of the diagonal: keeps the decomposition from dividing by nothing, far
// below what samples can tell.
constexpr double kRidge = 1e-9;

// Lower triangle L of A = L L^T, in place.
void Decompose(std::vector<double>& a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double diagonal = a[j * n + j];
    for (std::size_t k = 0; k < j; ++k) diagonal -= a[j * n + k] * a[j * n + k];
    a[j * n + j] = std::sqrt(std::max(diagonal, std::numeric_limits<double>::min()));
    for (std::size_t i = j + 1; i < n; ++i) {
      double element = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) element -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = element / a[j * n + j];
    }
  }
}

// L y = b, then L^T x = y, in place.
void Substitute(const std::vector<double>& l, std::size_t n, std::vector<double>& b) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= l[i * n + k] * b[k];
    b[i] /= l[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= l[k * n + i] * b[k];
    b[i] /= l[i * n + i];
  }
}

}  // namespace

void LeastSquares::Add(const std::vector<double>& row, const std::vector<std::size_t>& touched,
                       const std::vector<double>& values) {
  ++rows_;
  for (const std::size_t i : touched) {
    for (const std::size_t j : touched) normal_[i * unknowns_ + j] += row[i] * row[j];
    for (std::size_t side = 0; side < sides_; ++side)
      right_[i * sides_ + side] += row[i] * values[side];
  }
  for (std::size_t side = 0; side < sides_; ++side) squares_[side] += values[side] * values[side];
}

LeastSquares::Solution LeastSquares::Solve() const {
  const std::size_t n = unknowns_;
  Solution solution;
  solution.sides_ = sides_;
  solution.values_.assign(n * sides_, 0);
  solution.errors_.assign(n * sides_, std::numeric_limits<double>::infinity());
  solution.residuals_ = squares_;
  solution.variances_.assign(sides_, std::numeric_limits<double>::infinity());
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, normal_[i * n + i]);
  if (!(largest > 0)) return solution;
  std::vector<double> l = normal_;
  for (std::size_t i = 0; i < n; ++i) l[i * n + i] += kRidge * largest;
  Decompose(l, n);

  std::vector<double>& variance = solution.variances_;
  for (std::size_t side = 0; side < sides_; ++side) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = right_[i * sides_ + side];
    Substitute(l, n, x);
    double residual = squares_[side];
    for (std::size_t i = 0; i < n; ++i) {
      solution.values_[i * sides_ + side] = x[i];
      residual -= x[i] * right_[i * sides_ + side];
    }
    solution.residuals_[side] = std::max(residual, 0.0);
    if (rows_ > n) variance[side] = solution.residuals_[side] / static_cast<double>(rows_ - n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (normal_[i * n + i] <= 0) continue;
    std::vector<double> unit(n);
    unit[i] = 1;
    Substitute(l, n, unit);
    for (std::size_t side = 0; side < sides_; ++side)
      solution.errors_[i * sides_ + side] = std::sqrt(variance[side] * std::max(unit[i], 0.0));
  }
  solution.triangle_ = std::move(l);
  return solution;
}

double LeastSquares::Solution::error(const std::vector<double>& weights, std::size_t side) const {
  if (triangle_.empty()) return std::numeric_limits<double>::infinity();
  std::vector<double> x = weights;
  Substitute(triangle_, weights.size(), x);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * x[i];
  return std::sqrt(variances_[side] * std::max(sum, 0.0));
}

}  // namespace traceinject
