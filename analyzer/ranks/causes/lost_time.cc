// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/lost_time.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/common/mean.h"

namespace traceinject {
namespace {

// Which part of a job is ideal in a play.
struct Scenario {
  std::vector<bool> ranks, groups;
};

// Factor on the transfers of each group with which they take no longer than those of its like.
std::vector<double> IdealTransfers(std::size_t groups, const LinkRates& rates) {
  std::vector<double> total(groups), ideal(groups), factors(groups, 1);
  for (const auto& [work, list] : rates) {
    const UsualRate usual = work.pair || !IsComparable(work) ? UsualRate{} : UsualOf(list);
    for (const GroupRate& rate : list) {
      const bool slower = usual.ns_per_byte > 0 && rate.count >= kMinTransfers &&
                          rate.ns_per_byte > usual.ns_per_byte;
      total[rate.group] += rate.total_ns;
      ideal[rate.group] += rate.total_ns * (slower ? usual.ns_per_byte / rate.ns_per_byte : 1);
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    if (total[g] > 0) factors[g] = ideal[g] / total[g];
  }
  return factors;
}

// Of each stage: the share of its time that it would take, were it not above the mean of all.
std::vector<double> EvenStages(const std::vector<double>& stage_work) {
  const double mean = Mean(stage_work);
  std::vector<double> factors;
  for (const double work : stage_work) factors.push_back(work > mean ? mean / work : 1);
  return factors;
}

class Players {
 public:
  Players(std::size_t groups, const WorkTable& work, const WorkPieces& pieces,
          const Pipelines& pipelines, const std::vector<double>& stage_work, const LinkRates& rates,
          const JobReplay& replay)
      : work_(work),
        even_pieces_(pieces.AtMean(WorkPieces::Alike::kOfRank)),
        pipelines_(pipelines),
        stages_(EvenStages(stage_work)),
        transfers_(IdealTransfers(groups, rates)),
        replay_(replay) {}

  Scenario All(bool ideal) const {
    return {std::vector<bool>(work_.ranks(), ideal), std::vector<bool>(transfers_.size(), ideal)};
  }
  bool HasSlow(const std::vector<std::size_t>& groups) const {
    return std::any_of(groups.begin(), groups.end(),
                       [&](std::size_t g) { return transfers_[g] < 1; });
  }

  // A mean step.
  double Play(const Scenario& scenario) const {
    JobChange change;
    change.own = [&](std::size_t rank, std::size_t step) {
      const std::optional<double> own = work_.own_ns(rank, step);
      if (!own) return 1.0;
      return work_.Factor(rank, step, scenario.ranks[rank] ? Ideal(rank, step, *own) : *own);
    };
    change.piece = [&](std::size_t rank, std::size_t piece) {
      return scenario.ranks[rank] ? even_pieces_[rank][piece] : 1;
    };
    change.transfer = [&](std::size_t g) { return scenario.groups[g] ? transfers_[g] : 1; };
    return Mean(replay_.Play(change));
  }

  // Over what is ideal, of a mean step.
  double Excess(std::size_t rank) const {
    double sum = 0;
    for (const std::size_t step : work_.regular_steps()) {
      if (const auto own = work_.own_ns(rank, step)) sum += *own - Ideal(rank, step, *own);
    }
    return sum;
  }

 private:
  double Ideal(std::size_t rank, std::size_t step, double own) const {
    const std::uint32_t stage = pipelines_.stage[rank];
    const double factor = stage == kNone || stage >= stages_.size() ? 1 : stages_[stage];
    return std::min(own, factor * work_.usual_ns(rank, step).value_or(own));
  }

  const WorkTable& work_;
  PieceFactors even_pieces_;
  const Pipelines& pipelines_;
  std::vector<double> stages_, transfers_;
  const JobReplay& replay_;
};

std::vector<LostCause> Stages(const Pipelines& pipelines) {
  std::vector<LostCause> stages(pipelines.stages < 2 ? 0 : pipelines.stages);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].kind = LostCause::Kind::kStage;
    stages[i].index = i;
  }
  for (std::size_t r = 0; r < pipelines.stage.size() && !stages.empty(); ++r) {
    if (pipelines.stage[r] != kNone) stages[pipelines.stage[r]].ranks.push_back(r);
  }
  return stages;
}

// Where hosts are not just another name of ranks.
std::vector<LostCause> Hosts(const Job& job) {
  std::map<std::string_view, LostCause> hosts;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    if (job.ranks[r].host.empty()) return {};
    LostCause& host = hosts[job.ranks[r].host];
    host.kind = LostCause::Kind::kHost;
    if (host.ranks.empty()) host.index = r;
    host.ranks.push_back(r);
  }
  std::vector<LostCause> list;
  if (hosts.size() < 2 || hosts.size() == job.ranks.size()) return list;
  for (auto& [name, host] : hosts) list.push_back(std::move(host));
  return list;
}

std::vector<LostCause> Ranks(const Job& job) {
  std::vector<LostCause> ranks(job.ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].index = r;
    ranks[r].ranks = {r};
  }
  return ranks;
}

std::size_t WorstOf(std::size_t count) {
  return static_cast<std::size_t>(std::ceil(kWorstShare * static_cast<double>(count)));
}

// Keeps the worst that are over what is ideal at all.
void KeepWorst(const std::vector<double>& excess, std::vector<LostCause>& causes) {
  const auto sum = [&](const LostCause& cause) {
    return std::accumulate(cause.ranks.begin(), cause.ranks.end(), 0.0,
                           [&](double so_far, std::size_t r) { return so_far + excess[r]; });
  };
  const std::size_t most = std::max(kMinWorst, WorstOf(causes.size()));
  std::stable_sort(causes.begin(), causes.end(),
                   [&](const LostCause& a, const LostCause& b) { return sum(a) > sum(b); });
  std::erase_if(causes, [&](const LostCause& cause) { return sum(cause) <= 0; });
  if (causes.size() > most) causes.resize(most);
}

}  // namespace

LostTime FindLostTime(const Job& job, const std::vector<MatchedGroup>& groups,
                      const WorkTable& work, const WorkPieces& pieces, const Pipelines& pipelines,
                      const std::vector<double>& stage_work,
                      const std::vector<ParallelGroups>& uses, const LinkRates& rates,
                      const JobReplay& replay) {
  LostTime found;
  if (replay.empty() || job.ranks.size() < 2) return found;
  const Players players(groups.size(), work, pieces, pipelines, stage_work, rates, replay);
  const Scenario recorded = players.All(false), ideal = players.All(true);
  const double recorded_ns = players.Play(recorded);
  found.ideal_ns = players.Play(ideal);
  // The median is more than what the faster half takes: where that decides, nothing is lost.
  found.lost_ns = std::max(0.0, Mean(replay.unchanged()) - found.ideal_ns);
  const double lost_ns = recorded_ns - found.ideal_ns;
  if (lost_ns < kMinLostShare * recorded_ns) return found;

  std::vector<double> excess;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) excess.push_back(players.Excess(r));
  std::vector<LostCause> stages = Stages(pipelines), hosts = Hosts(job), ranks = Ranks(job);
  KeepWorst(excess, hosts);
  KeepWorst(excess, ranks);
  Scenario worst = recorded;
  found.worst_ranks = std::min(WorstOf(job.ranks.size()), ranks.size());
  for (std::size_t i = 0; i < found.worst_ranks; ++i) worst.ranks[ranks[i].index] = true;
  found.worst_rem = (recorded_ns - players.Play(worst)) / lost_ns;

  // What there are few of comes first: the rest is cut off where too much would be played.
  std::vector<LostCause> causes;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (players.HasSlow(uses[i].groups)) causes.push_back({LostCause::Kind::kGroups, i, {}});
  }
  std::move(stages.begin(), stages.end(), std::back_inserter(causes));
  for (std::size_t i = 0; i < std::max(hosts.size(), ranks.size()); ++i) {
    if (i < ranks.size()) causes.push_back(std::move(ranks[i]));
    if (i < hosts.size()) causes.push_back(std::move(hosts[i]));
  }
  const std::size_t plays = kMaxPlayedRows / std::max<std::size_t>(replay.rows(), 1);
  if (causes.size() > plays / 2) causes.resize(plays / 2);
  for (LostCause& cause : causes) {
    Scenario without = recorded, alone = ideal;
    for (const std::size_t r : cause.ranks) without.ranks[r] = true, alone.ranks[r] = false;
    if (cause.kind == LostCause::Kind::kGroups) {
      for (const std::size_t g : uses[cause.index].groups)
        without.groups[g] = true, alone.groups[g] = false;
    }
    cause.rem = (recorded_ns - players.Play(without)) / lost_ns;
    cause.add = (players.Play(alone) - found.ideal_ns) / lost_ns;
    found.ranks_played += cause.kind == LostCause::Kind::kRank ? 1 : 0;
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const LostCause& a, const LostCause& b) { return a.rem > b.rem; });
  found.causes = std::move(causes);
  return found;
}

}  // namespace traceinject
