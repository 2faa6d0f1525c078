// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/bootstrap.h"

#include <algorithm>
#include <cstdint>

namespace traceinject {
namespace {

// Of the largest cost: what is smaller is noise around nothing.
constexpr double kCostShare = 0.05;

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers with every standard library, which the
// distributions of <random> do not promise.
class Draws {
 public:
  std::size_t Below(std::size_t count) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return static_cast<std::size_t>((z ^ (z >> 31U)) % count);
  }

 private:
  std::uint64_t state_ = 1;
};

// Means of neighbors, as equal in number as can be. Drawing blocks also keeps what neighbors have
// in common.
std::vector<double> BlockMeans(const std::vector<double>& values) {
  std::vector<double> means;
  for (std::size_t block = 0; block < kMaxBlocks; ++block) {
    const std::size_t begin = block * values.size() / kMaxBlocks;
    const std::size_t end = (block + 1) * values.size() / kMaxBlocks;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

}  // namespace

std::vector<double> ResampledMeans(const std::vector<double>& values) {
  if (values.size() > kMaxBlocks) return ResampledMeans(BlockMeans(values));
  std::vector<double> means;
  if (values.empty()) return means;
  means.reserve(kResamples);
  Draws draws;
  for (std::size_t i = 0; i < kResamples; ++i) {
    double sum = 0;
    for (std::size_t n = 0; n < values.size(); ++n) sum += values[draws.Below(values.size())];
    means.push_back(sum / static_cast<double>(values.size()));
  }
  return means;
}

std::vector<double> ResampledSparseMeans(const std::vector<double>& values) {
  if (values.empty()) return {};
  const double largest = *std::max_element(values.begin(), values.end());
  std::vector<double> costs;
  double rest = 0;
  for (const double value : values) {
    if (largest > 0 && value >= kCostShare * largest)
      costs.push_back(value);
    else
      rest += value;
  }
  if (costs.empty()) return ResampledMeans(values);
  std::vector<double> means = ResampledMeans(costs);
  const double count = static_cast<double>(values.size());
  for (double& mean : means) mean = (mean * static_cast<double>(costs.size()) + rest) / count;
  return means;
}

Bounds Middle95(std::vector<double> means) {
  if (means.empty()) return {};
  std::sort(means.begin(), means.end());
  const std::size_t tail = means.size() / 40;
  return {means[tail], means[means.size() - 1 - tail]};
}

}  // namespace traceinject
