// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/step_anchors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace traceinject {
namespace {

constexpr std::size_t kMinPeriods = 3;
constexpr std::size_t kMaxAnchors = 64;      // of a candidate
constexpr std::size_t kMaxDistances = 4096;  // looked at to tell how steady a token is
constexpr double kMinShare = 0.5;            // of the sequence, between first and last
constexpr double kTrimmed = 0.2;             // of the distances, at each end
// Distances of a token that comes once a step. On public traces of real training the largest is
// 0.05; one that comes several times a step is above 1 unless it does so evenly.
constexpr double kMaxVariation = 0.25;
// Mean distance / median: what is far above comes in groups.
constexpr double kMaxUneven = 2;
constexpr double kMaxMissing = 0.1;  // of the turns, of two tokens that take turns
constexpr std::size_t kMatchedElements = 400'000, kMinPairs = 8, kMaxPairs = 64;

using Positions = std::vector<std::uint32_t>;

// How far apart two of the same token may be to count as one burst.
std::uint32_t BurstGap(const LaunchSequence::Token& token, std::size_t elements, bool short_steps) {
  if (token.whole) return 0;
  if (short_steps || token.count == 0) return 1;
  return std::max<std::uint32_t>(3, static_cast<std::uint32_t>(elements / (100UL * token.count)));
}

// A program that replays CUDA graphs has few launches in a step.
bool HasShortSteps(const LaunchSequence& sequence) {
  std::size_t whole = 0;
  for (const LaunchSequence::Token& token : sequence.names) whole += token.whole ? token.count : 0;
  return 10 * whole >= sequence.size();
}

// Spread of the middle distances; their median goes to `median`.
double VariationOf(const Positions& at, double* median) {
  const std::size_t distances = at.size() - 1;
  const std::size_t stride = (distances + kMaxDistances - 1) / kMaxDistances;
  Positions sample;
  for (std::size_t i = 0; i < distances; i += stride) sample.push_back(at[i + 1] - at[i]);
  std::sort(sample.begin(), sample.end());
  *median = sample[sample.size() / 2];
  const auto cut = static_cast<std::size_t>(kTrimmed * static_cast<double>(sample.size()));
  const std::span<const std::uint32_t> middle(sample.data() + cut, sample.size() - 2 * cut);
  const double mean =
      std::accumulate(middle.begin(), middle.end(), 0.0) / static_cast<double>(middle.size());
  double squares = 0;
  for (const std::uint32_t distance : middle) squares += (distance - mean) * (distance - mean);
  return std::sqrt(squares / static_cast<double>(middle.size())) / mean;
}

// The tokens of one kind that come at a steady distance.
class SteadyTokens {
 public:
  SteadyTokens(const LaunchSequence& sequence, bool by_shape)
      : elements_(by_shape ? sequence.shape : sequence.name) {
    const std::vector<LaunchSequence::Token>& table = by_shape ? sequence.shapes : sequence.names;
    const bool short_steps = HasShortSteps(sequence);
    for (const LaunchSequence::Token& token : table)
      gap_.push_back(BurstGap(token, elements_.size(), short_steps));
    Count(table.size());
    Collect(by_shape);
  }
  std::vector<Anchor> Take() { return std::move(steady_); }

 private:
  struct Bursts {
    std::uint32_t count = 0, first = 0, last = 0;
  };

  void Count(std::size_t tokens) {
    bursts_.resize(tokens);
    for (std::uint32_t i = 0; i < elements_.size(); ++i) {
      Bursts& bursts = bursts_[elements_[i]];
      if (bursts.count == 0) bursts.first = i;
      if (bursts.count == 0 || i - bursts.last > gap_[elements_[i]]) ++bursts.count;
      bursts.last = i;
    }
  }
  void Collect(bool by_shape) {
    constexpr std::uint32_t kUnused = kNone;
    std::vector<std::uint32_t> slot(bursts_.size(), kUnused);
    std::vector<Anchor> anchors;
    for (std::uint32_t token = 0; token < bursts_.size(); ++token) {
      const Bursts& bursts = bursts_[token];
      if (bursts.count < kMinPeriods || bursts.last - bursts.first < kMinShare * Size()) continue;
      slot[token] = static_cast<std::uint32_t>(anchors.size());
      anchors.push_back({token, by_shape, {}});
      anchors.back().at.reserve(bursts.count);
    }
    std::vector<std::uint32_t> last(anchors.size());
    for (std::uint32_t i = 0; i < elements_.size(); ++i) {
      const std::uint32_t at = slot[elements_[i]];
      if (at == kUnused) continue;
      Positions& positions = anchors[at].at;
      if (positions.empty() || i - last[at] > gap_[elements_[i]]) positions.push_back(i);
      last[at] = i;
    }
    for (Anchor& anchor : anchors) {
      double median = 0;
      anchor.variation = VariationOf(anchor.at, &median);
      const double mean = static_cast<double>(anchor.at.back() - anchor.at.front()) /
                          static_cast<double>(anchor.at.size() - 1);
      anchor.unevenness = mean / median;
      if (anchor.variation <= kMaxVariation && anchor.unevenness <= kMaxUneven)
        steady_.push_back(std::move(anchor));
    }
  }
  double Size() const { return static_cast<double>(elements_.size()); }

  const std::vector<std::uint32_t>& elements_;
  std::vector<std::uint32_t> gap_;
  std::vector<Bursts> bursts_;
  std::vector<Anchor> steady_;
};

// Whether `b` occurs once between two of `a`, nearly always.
bool TakeTurns(const Positions& a, const Positions& b) {
  std::size_t once = 0, at = 0;
  while (at < b.size() && b[at] < a.front()) ++at;
  for (std::size_t i = 0; i + 1 < a.size(); ++i) {
    std::size_t between = 0;
    for (; at < b.size() && b[at] < a[i + 1]; ++at) ++between;
    once += between == 1 ? 1 : 0;
  }
  return static_cast<double>(once) >= (1 - kMaxMissing) * static_cast<double>(a.size() - 1);
}

// Tokens of two stretches of the sequence, counted.
class Overlap {
 public:
  Overlap(const std::vector<std::uint32_t>& elements,
          const std::vector<LaunchSequence::Token>& table, std::size_t periods)
      : elements_(elements), counts_(table.size()) {
    // What is rarer than once a period counts no more than that.
    for (const LaunchSequence::Token& token : table)
      weight_.push_back(1.0 / static_cast<double>(std::max<std::size_t>(token.count, periods)));
  }
  double Of(std::size_t begin, std::size_t middle, std::size_t end) {
    double first = 0, second = 0, both = 0;
    for (std::size_t i = begin; i < middle; ++i) {
      ++counts_[elements_[i]];
      first += weight_[elements_[i]];
    }
    for (std::size_t i = middle; i < end; ++i) {
      second += weight_[elements_[i]];
      if (counts_[elements_[i]] == 0) continue;
      --counts_[elements_[i]];
      both += weight_[elements_[i]];
    }
    for (std::size_t i = begin; i < middle; ++i) counts_[elements_[i]] = 0;
    return both / std::min(first, second);
  }

 private:
  const std::vector<std::uint32_t>& elements_;
  std::vector<std::uint32_t> counts_;
  std::vector<double> weight_;
};

double MatchOf(const Positions& at, Overlap&& overlap, double length) {
  const std::size_t pairs = at.size() - 2;
  const auto affordable = static_cast<std::size_t>(kMatchedElements / (2 * length));
  const std::vector<std::size_t> sample =
      SampleOf(pairs, std::clamp(affordable, kMinPairs, kMaxPairs));
  double sum = 0;
  for (const std::size_t pair : sample) sum += overlap.Of(at[pair], at[pair + 1], at[pair + 2]);
  return sum / static_cast<double>(sample.size());
}

// The first of the group is the reference.
PeriodCandidate CandidateOf(const LaunchSequence& sequence, const std::vector<Anchor*>& group) {
  PeriodCandidate candidate;
  const Positions& reference = group.front()->at;
  for (const Anchor* anchor : group) {
    if (anchor != group.front() && !TakeTurns(reference, anchor->at)) continue;
    if (++candidate.support <= kMaxAnchors) candidate.anchors.push_back(*anchor);
  }
  candidate.name_match = MatchOf(
      reference, Overlap(sequence.name, sequence.names, candidate.count()), candidate.length());
  candidate.shape_match = MatchOf(
      reference, Overlap(sequence.shape, sequence.shapes, candidate.count()), candidate.length());
  return candidate;
}

}  // namespace

std::vector<PeriodCandidate> FindPeriods(const LaunchSequence& sequence) {
  std::vector<Anchor> steady;
  if (sequence.size() == 0) return {};
  for (const bool by_shape : {true, false}) {
    for (Anchor& anchor : SteadyTokens(sequence, by_shape).Take())
      steady.push_back(std::move(anchor));
  }
  std::map<std::size_t, std::size_t> votes;  // by number of bursts
  for (const Anchor& anchor : steady) ++votes[anchor.at.size()];
  std::vector<std::pair<std::size_t, std::size_t>> numbers(votes.begin(), votes.end());
  std::stable_sort(numbers.begin(), numbers.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<PeriodCandidate> candidates;
  for (const auto& [number, count] : numbers) {
    const auto is_known = [n = number](const PeriodCandidate& candidate) {
      return NearlyAsMany(candidate.count(), n);
    };
    if (std::any_of(candidates.begin(), candidates.end(), is_known)) continue;
    std::vector<Anchor*> group, near;
    for (Anchor& anchor : steady) {
      if (anchor.at.size() == number)
        group.push_back(&anchor);
      else if (NearlyAsMany(anchor.at.size(), number))
        near.push_back(&anchor);
    }
    // The reference comes from the number itself.
    std::stable_sort(group.begin(), group.end(),
                     [](const Anchor* a, const Anchor* b) { return a->variation < b->variation; });
    group.insert(group.end(), near.begin(), near.end());
    candidates.push_back(CandidateOf(sequence, group));
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const PeriodCandidate& a, const PeriodCandidate& b) { return a.count() > b.count(); });
  return candidates;
}

std::vector<std::size_t> SampleOf(std::size_t pairs, std::size_t most) {
  constexpr std::size_t kRun = 8;
  std::vector<std::size_t> sample;
  const std::size_t runs = most / kRun;
  if (pairs <= most || runs == 0) {
    for (std::size_t i = 0; i < std::min(pairs, most); ++i) sample.push_back(i);
    return sample;
  }
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t first = runs == 1 ? 0 : run * (pairs - kRun) / (runs - 1);
    for (std::size_t i = 0; i < kRun; ++i) sample.push_back(first + i);
  }
  return sample;
}

bool NearlyAsMany(std::size_t a, std::size_t b) {
  const auto [less, more] = std::minmax(a, b);
  return more - less <= std::max<std::size_t>(1, more / 50);
}

std::size_t CountIn(std::span<const std::uint32_t> positions, std::size_t begin, std::size_t end) {
  const auto from = std::lower_bound(positions.begin(), positions.end(), begin);
  return static_cast<std::size_t>(std::lower_bound(from, positions.end(), end) - from);
}

}  // namespace traceinject
