// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/imbalance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ranks/causes/slow_spells.h"

namespace traceinject {
namespace {

constexpr double kMiddleShare = 0.9;   // of the time of pieces, that their spread is told of
constexpr std::size_t kMinPairs = 20;  // of passes, for a correlation

// Where all are bound by their hosts, those of ranks that wait run ahead: no rank takes less for a
// step than its host does, when nothing is recorded.
double WithHost(const Job& job, std::size_t rank, double own_ns) {
  const RankSummary& of = job.ranks[rank];
  return std::max(own_ns, static_cast<double>(of.host_step_ns - of.recording_step_ns));
}

// By how much the rank with most to do exceeds the mean, and which ranks that are.
void MeasureExcess(const Job& job, const WorkTable& work, const SpellSteps& spells, Imbalance& to) {
  std::set<std::size_t> culprits;
  double sum = 0;
  for (const std::size_t step : work.regular_steps()) {
    double most = 0;
    std::optional<std::size_t> culprit;
    for (std::size_t r = 0; r < work.ranks(); ++r) {
      const std::optional<double> own = work.own_ns(r, step), mean = work.mean_ns(r, step);
      if (!own || !mean || spells.Has(r, step) || *own - WithHost(job, r, *mean) <= most) continue;
      most = *own - WithHost(job, r, *mean);
      culprit = r;
    }
    sum += most;
    if (culprit) culprits.insert(*culprit);
  }
  to.excess_ns = sum / static_cast<double>(work.regular_steps().size());
  to.culprits = culprits.size();
}

// Makes no step of a rank shorter than its host needs, and leaves spells as they are.
void KeepBounds(const Job& job, const WorkPieces& pieces, const SpellSteps& spells,
                PieceFactors& factors) {
  for (std::size_t r = 0; r < factors.size(); ++r) {
    const std::vector<WorkPiece>& own = pieces.of_ranks()[r];
    for (std::size_t from = 0, to = 0; from < own.size(); from = to) {
      double even = 0, recorded = 0;
      for (to = from; to < own.size() && own[to].step == own[from].step; ++to) {
        even += own[to].length() * factors[r][to];
        recorded += own[to].length();
      }
      const double least = std::min(recorded, WithHost(job, r, even));
      for (std::size_t i = from; i < to; ++i) {
        if (spells.Has(r, own[from].step))
          factors[r][i] = 1;
        else if (least > even)
          factors[r][i] *= least / even;
      }
    }
  }
}

// `factors`: with which each piece takes the mean of its kind.
void MeasureSpread(const WorkPieces& pieces, const PieceFactors& factors, Imbalance& to) {
  std::vector<std::pair<double, double>> over_mean;  // and the time at it
  double all = 0;
  for (std::size_t r = 0; r < factors.size(); ++r) {
    for (std::size_t i = 0; i < factors[r].size(); ++i) {
      over_mean.emplace_back(1 / factors[r][i], pieces.of_ranks()[r][i].length() * factors[r][i]);
      all += over_mean.back().second;
    }
  }
  std::sort(over_mean.begin(), over_mean.end());
  double before = 0;
  for (const auto& [value, time] : over_mean) {
    if (before <= (1 - kMiddleShare) / 2 * all) to.shortest = value;
    if (before <= (1 + kMiddleShare) / 2 * all) to.longest = value;
    before += time;
  }
}

class Correlation {
 public:
  void Add(double x, double y) {
    ++count_;
    x_ += x, y_ += y, xx_ += x * x, yy_ += y * y, xy_ += x * y;
  }
  std::optional<double> value() const {
    if (count_ < kMinPairs) return std::nullopt;
    const auto n = static_cast<double>(count_);
    const double spread = (xx_ - x_ * x_ / n) * (yy_ - y_ * y_ / n);
    if (!(spread > 0)) return std::nullopt;
    return (xy_ - x_ * y_ / n) / std::sqrt(spread);
  }

 private:
  std::size_t count_ = 0;
  double x_ = 0, y_ = 0, xx_ = 0, yy_ = 0, xy_ = 0;
};

// Of how long passes forward and backward take over the mean of their kind.
std::optional<double> CorrelatePasses(const WorkPieces& pieces, const PieceFactors& factors) {
  if (!pieces.are_told()) return std::nullopt;
  Correlation correlation;
  for (std::size_t r = 0; r < factors.size(); ++r) {
    std::map<std::pair<std::uint32_t, std::int32_t>, double> forward;  // by step and micro-batch
    for (std::size_t i = 0; i < factors[r].size(); ++i) {
      const WorkPiece& piece = pieces.of_ranks()[r][i];
      const std::string_view kind = pieces.kinds()[piece.kind];
      if (piece.micro_batch < 0) continue;
      if (kind == "forward") {
        forward.insert_or_assign({piece.step, piece.micro_batch}, 1 / factors[r][i]);
      } else if (kind.starts_with("backward")) {
        const auto found = forward.find({piece.step, piece.micro_batch});
        if (found != forward.end()) correlation.Add(found->second, 1 / factors[r][i]);
      }
    }
  }
  return correlation.value();
}

}  // namespace

Imbalance FindImbalance(const Job& job, const WorkTable& work, const WorkPieces& pieces,
                        const SpellSteps& spells, const JobReplay& replay, double step_ns) {
  Imbalance found;
  if (work.regular_steps().size() < kMinJobSteps) return found;
  MeasureExcess(job, work, spells, found);
  JobChange no_spells;
  no_spells.own = [&](std::size_t rank, std::size_t step) {
    return WithoutSpells(work, spells, rank, step);
  };
  JobChange even;
  PieceFactors factors;
  if (pieces.empty()) {
    if (found.excess_ns < std::max(kMinImbalanceShare * step_ns, double{kMinExcessNs}))
      return found;
    even.own = [&](std::size_t rank, std::size_t step) {
      const std::optional<double> mean = work.mean_ns(rank, step);
      return mean ? work.Factor(rank, step, WithHost(job, rank, *mean)) : 1;
    };
  } else {
    factors = pieces.AtMean(WorkPieces::Alike::kOfStage);
    MeasureSpread(pieces, factors, found);
    found.correlation = CorrelatePasses(pieces, factors);
    KeepBounds(job, pieces, spells, factors);
    if (!spells.empty()) even.own = no_spells.own;
    even.piece = [&](std::size_t rank, std::size_t piece) { return factors[rank][piece]; };
  }
  found.saving = spells.empty() ? SavingOf(replay, even)
                                : SavingBetween(replay.Play(no_spells), replay.Play(even));
  found.found = found.saving.low_ns >= std::max(kMinImbalanceShare * step_ns, double{kMinExcessNs});
  return found;
}

}  // namespace traceinject
