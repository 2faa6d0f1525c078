// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/load_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "analyzer/common/least_squares.h"
#include "analyzer/common/median.h"
#include "analyzer/import/finish/load_grid.h"

namespace traceinject {
namespace {

constexpr std::size_t kBlockSamples = 256, kBlocks = 16;
// Side by side, and tried at all offsets: a second's worth of samples of 1 ms. So many places are
// looked at for one where the counters change much.
constexpr std::size_t kAnchorBlocks = 4, kAnchorPlaces = 64;
constexpr std::size_t kOwnNames = 16;
constexpr TimeNs kCellsInPeriod = 16;
// Offsets that are tried are half a period apart, then ever less.
constexpr TimeNs kFirstStepsInPeriod = 2, kFinestStepsInPeriod = 64;
// Offsets around the bounds show what is ordinary; the best may leave so much of that unexplained.
constexpr TimeNs kPeriodsAround = 20;
constexpr double kMostLeft = 0.7;
// A counter that changes less says nothing of when.
constexpr double kLeastVariance = 1e-4;
// Between blocks, of two clocks of one machine.
constexpr double kFollowedDrift = 1e-4;

struct LoadBlock {
  std::size_t first = 0, last = 0;          // samples
  std::vector<std::vector<double>> values;  // of each counter, of each sample
  std::vector<double> squares;              // of each counter: sum of squares around its mean
};

double SquaresAroundMean(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  return std::max(0.0, squares - sum * sum / static_cast<double>(values.size()));
}

class LoadFitter {
 public:
  LoadFitter(const Rank& rank, const Device& device, const std::vector<std::int64_t>& gpu_time)
      : ops_(device.ops),
        samples_(device.counters),
        gpu_time_(gpu_time),
        period_(samples_.period_ns),
        groups_(rank, device.ops, kOwnNames) {
    for (const CounterColumn& column : samples_.columns) {
      if (AddsUp(column.id)) columns_.push_back(&column);
    }
  }

  std::vector<ClockOffset> Find(const OffsetBounds& bounds) {
    const std::size_t count = samples_.size() / kBlockSamples;
    if (count == 0 || columns_.empty()) return {};
    const std::vector<LoadBlock> anchor = Anchor(count);
    const auto offset = OffsetOf(anchor, bounds(anchor.front().first));
    if (!offset) return {};
    std::vector<ClockOffset> found = {{TimeOf(anchor[anchor.size() / 2]), *offset}};
    const std::size_t first = anchor.front().first / kBlockSamples;
    const std::size_t apart = std::max<std::size_t>(1, count / kBlocks);
    for (std::size_t i = first + anchor.size(); i < count; i += apart) Follow(i, found);
    std::reverse(found.begin(), found.end());  // on from the anchor again
    for (std::size_t i = first; i >= apart; i -= apart) Follow(i - apart, found);
    std::sort(found.begin(), found.end(),
              [](const ClockOffset& a, const ClockOffset& b) { return a.gpu_time < b.gpu_time; });
    return found;
  }

 private:
  LoadBlock BlockAt(std::size_t index) const {
    LoadBlock block;
    block.first = index * kBlockSamples;
    block.last = block.first + kBlockSamples;
    for (const CounterColumn* column : columns_) {
      std::vector<double>& values = block.values.emplace_back();
      for (std::size_t i = block.first; i < block.last; ++i)
        values.push_back(std::max(column->value[i], 0) / 1000.0);
      block.squares.push_back(SquaresAroundMean(values));
    }
    return block;
  }

  // The blocks side by side in which the counters change most.
  std::vector<LoadBlock> Anchor(std::size_t count) const {
    const std::size_t length = std::min(kAnchorBlocks, count);
    const std::size_t apart = std::max(length, count / kAnchorPlaces);
    std::vector<LoadBlock> best;
    double most = -1;
    for (std::size_t first = 0; first + length <= count; first += apart) {
      std::vector<LoadBlock> blocks;
      double changes = 0;
      for (std::size_t i = first; i < first + length; ++i) {
        blocks.push_back(BlockAt(i));
        for (const double squares : blocks.back().squares) changes += squares;
      }
      if (changes > most) most = changes, best = std::move(blocks);
    }
    return best;
  }

  // The one block beside the one that was found last.
  void Follow(std::size_t index, std::vector<ClockOffset>& found) const {
    const std::vector<LoadBlock> block = {BlockAt(index)};
    const ClockOffset near = found.back();
    const auto drifted = static_cast<TimeNs>(
        kFollowedDrift * static_cast<double>(std::abs(TimeOf(block.front()) - near.gpu_time)));
    const TimeNs reach = period_ + drifted;
    if (const auto offset = OffsetOf(block, {near.offset - reach, near.offset + reach}))
      found.push_back({TimeOf(block.front()), *offset});
  }

  std::int64_t TimeOf(const LoadBlock& block) const {
    return gpu_time_[block.first + (block.last - block.first) / 2];
  }
  TimeNs LengthOf(std::size_t sample) const {
    return samples_.end[sample] - samples_.start[sample];
  }

  // Blocks side by side.
  std::optional<TimeNs> OffsetOf(const std::vector<LoadBlock>& blocks, Interval bounds) const {
    const TimeNs around = kPeriodsAround * period_;
    const std::size_t last = blocks.back().last - 1;
    const LoadGrid grid(ops_, groups_,
                        {gpu_time_[blocks.front().first] + bounds.start - around - period_,
                         gpu_time_[last] + LengthOf(last) + bounds.end + around + period_},
                        std::max<TimeNs>(1, period_ / kCellsInPeriod));
    std::vector<double> left;
    double best = std::numeric_limits<double>::infinity();
    TimeNs offset = 0;
    const auto look = [&](TimeNs one, bool possible) {
      left.push_back(LeftAt(blocks, grid, one));
      if (possible && left.back() < best) best = left.back(), offset = one;
    };
    TimeNs step = std::max<TimeNs>(1, period_ / kFirstStepsInPeriod);
    for (TimeNs one = bounds.start - around; one <= bounds.end + around; one += step)
      look(one, one >= bounds.start - step && one <= bounds.end + step);
    const double ordinary = Median(left);
    while (step > std::max<TimeNs>(1, period_ / kFinestStepsInPeriod)) {
      step /= 2;
      for (const TimeNs one : {offset - step, offset + step}) look(one, true);
    }
    if (!std::isfinite(best) || best > kMostLeft * ordinary) return std::nullopt;
    return offset;
  }

  // Of the variance of the counters that change, what the offset leaves unexplained.
  double LeftAt(const std::vector<LoadBlock>& blocks, const LoadGrid& grid, TimeNs offset) const {
    LeastSquares squares(groups_.size(), columns_.size());
    std::vector<double> row(groups_.size()), values(columns_.size());
    std::vector<std::size_t> touched;
    std::vector<double> around_mean(columns_.size());
    for (const LoadBlock& block : blocks) {
      for (std::size_t i = block.first; i < block.last; ++i) {
        touched.clear();
        const TimeNs start = gpu_time_[i] + offset;
        for (std::size_t group = 0; group < row.size(); ++group) {
          row[group] = grid.Share(group, start, start + LengthOf(i));
          if (row[group] > 0) touched.push_back(group);
        }
        for (std::size_t j = 0; j < values.size(); ++j)
          values[j] = block.values[j][i - block.first];
        squares.Add(row, touched, values);
      }
      for (std::size_t j = 0; j < values.size(); ++j) around_mean[j] += block.squares[j];
    }
    const LeastSquares::Solution solution = squares.Solve();
    const auto count = static_cast<double>(blocks.size() * kBlockSamples);
    double left = 0, changing = 0;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (around_mean[j] < kLeastVariance * count) continue;
      left += solution.residual(j) / around_mean[j];
      ++changing;
    }
    return changing > 0 ? left / changing : std::numeric_limits<double>::infinity();
  }

  const GpuOps& ops_;
  const CounterSamples& samples_;
  const std::vector<std::int64_t>& gpu_time_;
  const TimeNs period_;
  const LoadGroups groups_;
  std::vector<const CounterColumn*> columns_;
};

}  // namespace

std::vector<ClockOffset> FitLoad(const Rank& rank, const Device& device,
                                 const std::vector<std::int64_t>& gpu_time,
                                 const OffsetBounds& bounds) {
  return LoadFitter(rank, device, gpu_time).Find(bounds);
}

}  // namespace traceinject
