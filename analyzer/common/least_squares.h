// SPDX-License-Identifier: Apache-2.0
// Linear least squares of many sparse rows over few unknowns, with several right-hand sides, by the
// normal equations and a Cholesky decomposition. The columns are shares of a sample's time, all of
// one scale, so that their condition is no worse than that of the mixture itself; what cannot be
// separated has a large error.
#pragma once

#include <cstddef>
#include <vector>

namespace traceinject {

class LeastSquares {
 public:
  LeastSquares(std::size_t unknowns, std::size_t sides)
      : unknowns_(unknowns),
        sides_(sides),
        normal_(unknowns * unknowns),
        right_(unknowns * sides),
        squares_(sides) {}

  // `row`: coefficients, of which those in `touched` are not 0; `values`: of each side.
  // O(touched^2 + touched x sides).
  void Add(const std::vector<double>& row, const std::vector<std::size_t>& touched,
           const std::vector<double>& values);

  class Solution {
   public:
    double value(std::size_t unknown, std::size_t side) const {
      return values_[unknown * sides_ + side];
    }
    // Standard error; infinite where there are no more rows than unknowns, or nothing was said of
    // this one.
    double error(std::size_t unknown, std::size_t side) const {
      return errors_[unknown * sides_ + side];
    }

    // The same of the sum of unknowns, each times its weight: those that can't be told apart may
    // have a sum that is known well. O(unknowns^2).
    double error(const std::vector<double>& weights, std::size_t side) const;
    // The sum of the squares of what the rows' values are off.
    double residual(std::size_t side) const { return residuals_[side]; }

   private:
    friend class LeastSquares;
    std::size_t sides_ = 0;
    std::vector<double> values_, errors_, residuals_;
    std::vector<double> triangle_, variances_;  // of the normal equations; of each side's values
  };
  // O(unknowns^3).
  Solution Solve() const;

 private:
  std::size_t unknowns_, sides_;
  std::size_t rows_ = 0;
  std::vector<double> normal_;   // unknowns x unknowns, both halves
  std::vector<double> right_;    // unknowns x sides
  std::vector<double> squares_;  // of the values of each side
};

}  // namespace traceinject
