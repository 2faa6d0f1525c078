// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/work_table.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace traceinject {
namespace {

constexpr double kMissing = -1;

std::optional<double> IfKnown(double value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

// What the work of a step took longer beside so much communication.
double Lost(const RankSummary& rank, const StepFacts& step, TimeNs beside) {
  return rank.lost_beside_communication *
         static_cast<double>(std::clamp<TimeNs>(beside, 0, step.compute_ns));
}

}  // namespace

WorkTable::WorkTable(const Job& job, const JobSteps& steps, const std::vector<OwnTime>& own,
                     const std::vector<RankWaits>& waits, const std::vector<std::uint32_t>& stage)
    : ranks_(job.ranks.size()) {
  std::map<std::uint32_t, std::size_t> set_of_stage;
  for (std::size_t r = 0; r < ranks_; ++r) {
    const auto [at, is_new] = set_of_stage.try_emplace(stage[r], peers_.size());
    if (is_new) peers_.emplace_back();
    peers_of_.push_back(at->second);
    if (steps.first[r]) peers_[at->second].push_back(r);
  }
  own_.assign(steps.count * ranks_, kMissing);
  recorded_ = own_;
  beside_transfers_.assign(own_.size(), 0);
  for (std::size_t r = 0; r < ranks_; ++r) {
    if (!steps.first[r]) continue;
    const RankSummary& rank = job.ranks[r];
    for (std::size_t i = 0; i < rank.steps.size(); ++i) {
      const auto recorded = static_cast<double>(own[r].Between(rank.steps[i].time));
      const std::size_t to = at(r, *steps.first[r] + i);
      recorded_[to] = recorded;
      const WaitSums& sums = waits[r].steps[i];
      own_[to] = recorded - Lost(rank, rank.steps[i], sums.wait_ns - sums.exposed_wait_ns);
      beside_transfers_[to] =
          Lost(rank, rank.steps[i], sums.transfer_ns - sums.exposed_transfer_ns);
    }
  }
  usual_.assign(steps.count * peers_.size(), kMissing);
  mean_ = usual_;
  std::vector<double> values;
  for (std::size_t step = 0; step < steps.count; ++step) {
    if (steps.regular[step]) regular_.push_back(step);
    for (std::size_t set = 0; set < peers_.size(); ++set) {
      values.clear();
      for (const std::size_t r : peers_[set]) {
        if (own_[at(r, step)] >= 0) values.push_back(own_[at(r, step)]);
      }
      if (values.size() < 2) continue;
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
      std::nth_element(values.begin(), middle, values.end());
      usual_[step * peers_.size() + set] = *middle;
      mean_[step * peers_.size() + set] =
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    }
  }
}

std::optional<double> WorkTable::own_ns(std::size_t rank, std::size_t step) const {
  return IfKnown(own_[at(rank, step)]);
}

double WorkTable::Factor(std::size_t rank, std::size_t step, double ns) const {
  const double recorded = recorded_[at(rank, step)];
  return recorded > 0 ? ns / recorded : 1;
}

double WorkTable::FactorWithout(std::size_t rank, std::size_t step,
                                double share_of_transfers) const {
  const double recorded = recorded_[at(rank, step)];
  return Factor(rank, step, recorded - share_of_transfers * beside_transfers_[at(rank, step)]);
}

std::optional<double> WorkTable::usual_ns(std::size_t rank, std::size_t step) const {
  return IfKnown(usual_[of_peers(rank, step)]);
}

std::optional<double> WorkTable::mean_ns(std::size_t rank, std::size_t step) const {
  return IfKnown(mean_[of_peers(rank, step)]);
}

std::optional<double> WorkTable::excess_ns(std::size_t rank, std::size_t step) const {
  const std::optional<double> own = own_ns(rank, step), usual = usual_ns(rank, step);
  if (!own || !usual) return std::nullopt;
  return *own - *usual;
}

}  // namespace traceinject
