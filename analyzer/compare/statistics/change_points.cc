// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "analyzer/common/mean.h"
#include "analyzer/common/median.h"
#include "analyzer/compare/statistics/student_t.h"

namespace traceinject {
namespace {

constexpr double kToDeviation = 1.4826;  // of a median absolute deviation
// Of fewer, one that is a change would be the median.
constexpr std::size_t kLeastDifferences = 3;
constexpr double kPulledIn = 3;  // standard deviations
constexpr double kOutsideInterval = 0.05;
constexpr double kOfMedians = 1.2533;  // standard error of a median, of that of the mean

// Of runs from `begin` until before `end`.
struct Segment {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

class Series {
 public:
  explicit Series(const std::vector<SeriesRun>& runs) {
    for (const SeriesRun& run : runs) {
      y_.push_back(std::log(run.median));
      own_.push_back(run.error_share * run.error_share);
    }
    between_ = Between();
    for (const double own : own_) variance_.push_back(between_ + own);
  }

  double between() const { return between_; }
  std::size_t size() const { return y_.size(); }
  double penalty() const { return 2 + 3 * std::log(static_cast<double>(size())); }

  double y(std::size_t run) const { return y_[run]; }
  double variance(std::size_t run) const { return variance_[run]; }

  // Mean squared error by the steps within runs.
  double Own(Segment segment) const {
    return std::accumulate(own_.begin() + static_cast<std::ptrdiff_t>(segment.begin),
                           own_.begin() + static_cast<std::ptrdiff_t>(segment.end), 0.0) /
           static_cast<double>(segment.size());
  }

 private:
  double Between() const {
    std::vector<double> differences;
    for (std::size_t i = 1; i < y_.size(); ++i) differences.push_back(std::abs(y_[i] - y_[i - 1]));
    if (differences.size() < kLeastDifferences) return kUsualScatter * kUsualScatter;
    const auto count = static_cast<double>(differences.size());
    const double deviation = kToDeviation * MiddleOf(std::move(differences));
    const double found = std::max(deviation * deviation / 2 - MiddleOf(own_), 0.0);
    return (kUsualCount * kUsualScatter * kUsualScatter + count * found) / (kUsualCount + count);
  }

  // The mean of the two in the middle where there are two.
  static double MiddleOf(std::vector<double> values) {
    std::vector<double> negative;
    for (const double value : values) negative.push_back(-value);
    return (Median(std::move(values)) - Median(std::move(negative))) / 2;
  }

  std::vector<double> y_, own_, variance_;  // own_: squared standard errors
  double between_ = 0;
};

// Runs of one level, added one by one.
class Level {
 public:
  explicit Level(const Series& series) : series_(series) {}
  Level(const Series& series, Segment segment) : series_(series) {
    for (std::size_t run = segment.begin; run < segment.end; ++run) Add(run);
  }

  void Add(std::size_t run) {
    const auto place =
        std::upper_bound(order_.begin(), order_.end(), run,
                         [&](std::size_t a, std::size_t b) { return series_.y(a) < series_.y(b); });
    order_.insert(place, run);
    weight_ += Weight(run);
  }

  // The weighted median.
  double middle() const {
    double below = 0;
    for (const std::size_t run : order_) {
      below += Weight(run);
      if (2 * below >= weight_) return series_.y(run);
    }
    return series_.y(order_.back());
  }

  double cost() const {
    const double level = middle();
    double cost = 0;
    for (const std::size_t run : order_) {
      const double off = series_.y(run) - level;
      cost += std::min(off * off / series_.variance(run), kMostCost);
    }
    return cost;
  }

  // With outliers pulled in.
  std::vector<double> values() const {
    const double level = middle();
    std::vector<double> values;
    for (const std::size_t run : order_) {
      const double most = kPulledIn * std::sqrt(series_.variance(run));
      values.push_back(std::clamp(series_.y(run), level - most, level + most));
    }
    return values;
  }

 private:
  double Weight(std::size_t run) const { return 1 / std::sqrt(series_.variance(run)); }

  const Series& series_;
  std::vector<std::size_t> order_;  // runs by y
  double weight_ = 0;
};

// Where the segments of the least cost begin, but for the first.
std::vector<std::size_t> Candidates(const Series& series) {
  const std::size_t count = series.size();
  std::vector<double> least(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin_of_last(count + 1, 0);
  least[0] = -series.penalty();
  // What ends before `begin` is settled by then.
  for (std::size_t begin = 0; begin + kLeastRuns <= count; ++begin) {
    Level level(series);
    for (std::size_t end = begin + 1; end <= count && !std::isinf(least[begin]); ++end) {
      level.Add(end - 1);
      if (end - begin < kLeastRuns) continue;
      const double cost = least[begin] + level.cost() + series.penalty();
      if (cost >= least[end]) continue;
      least[end] = cost;
      begin_of_last[end] = begin;
    }
  }
  std::vector<std::size_t> begins;
  for (std::size_t begin = begin_of_last[count]; begin > 0; begin = begin_of_last[begin])
    begins.push_back(begin);
  std::reverse(begins.begin(), begins.end());
  return begins;
}

// How two segments that follow each other differ.
struct Difference {
  double p = 1;     // that runs of one level look so different
  double half = 0;  // of the 95 % interval of the difference of the means
};

Difference DifferenceOf(const Series& series, Segment before, Segment after) {
  const std::vector<double> a = Level(series, before).values(), b = Level(series, after).values();
  const auto count_a = static_cast<double>(a.size()), count_b = static_cast<double>(b.size());
  const double degrees = count_a + count_b - 2, mean_a = Mean(a), mean_b = Mean(b);
  double squares = 0;
  for (const double value : a) squares += (value - mean_a) * (value - mean_a);
  for (const double value : b) squares += (value - mean_b) * (value - mean_b);
  const double own =
      (count_a * series.Own(before) + count_b * series.Own(after)) / (count_a + count_b);
  const double variance = std::max(squares / degrees, own);
  const double error = std::sqrt(variance * (1 / count_a + 1 / count_b));
  const double change = std::abs(mean_b - mean_a);
  return {error > 0 ? TwoSidedP(change / error, degrees) : (change > 0 ? 0.0 : 1.0),
          error * TwoSidedT(kOutsideInterval, degrees)};
}

class Tested {
 public:
  Tested(const Series& series, std::vector<std::size_t> begins)
      : series_(series), begins_(std::move(begins)) {}

  std::vector<ChangePoint> Find() {
    while (!begins_.empty()) {
      const std::size_t weakest = Weakest();
      if (At(weakest).p * static_cast<double>(series_.size() - 1) <= kMistake) break;
      begins_.erase(begins_.begin() + static_cast<std::ptrdiff_t>(weakest));
    }
    std::vector<ChangePoint> points;
    for (std::size_t i = 0; i < begins_.size(); ++i) points.push_back(PointAt(i));
    return points;
  }

 private:
  Segment Before(std::size_t i) const { return {i == 0 ? 0 : begins_[i - 1], begins_[i]}; }
  Segment After(std::size_t i) const {
    return {begins_[i], i + 1 == begins_.size() ? series_.size() : begins_[i + 1]};
  }
  Difference At(std::size_t i) const { return DifferenceOf(series_, Before(i), After(i)); }

  std::size_t Weakest() const {
    std::size_t weakest = 0;
    double largest_p = -1;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const double p = At(i).p;
      if (p <= largest_p) continue;
      largest_p = p;
      weakest = i;
    }
    return weakest;
  }

  ChangePoint PointAt(std::size_t i) const {
    const double before = Level(series_, Before(i)).middle(),
                 after = Level(series_, After(i)).middle();
    const double half = kOfMedians * At(i).half;
    return {begins_[i],
            std::exp(before),
            std::exp(after),
            {std::expm1(after - before - half), std::expm1(after - before + half)}};
  }

  const Series& series_;
  std::vector<std::size_t> begins_;
};

}  // namespace

const std::string_view kChangePointMethod =
    "Changes of the level: the segmentation of the logarithms of median steps that costs least, "
    "with a bounded loss, so that a single disturbed run is no level (Fearnhead and Rigaill, "
    "J. Am. Stat. Assoc. 114, 2019; optimal partitioning: Jackson et al., IEEE Signal Process. "
    "Lett. 12, 2005), and a penalty of 2 + 3 ln(runs) a change; the variance is what runs differ "
    "by, from successive differences, and what steps within each run tell. Each change is tested: "
    "Student's t of the runs on both sides, p at most 1 % over all places. A level takes two runs.";

SeriesChanges FindChangePoints(const std::vector<SeriesRun>& runs) {
  if (runs.empty()) return {};
  const Series series(runs);
  return {std::sqrt(series.between()), Tested(series, Candidates(series)).Find()};
}

}  // namespace traceinject
