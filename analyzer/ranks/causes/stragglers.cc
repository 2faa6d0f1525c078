// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/stragglers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analyzer/common/mean.h"
#include "analyzer/common/median.h"
#include "analyzer/metrics/what_if/bootstrap.h"
#include "analyzer/ranks/causes/imbalance.h"
#include "analyzer/ranks/causes/slow_spells.h"

namespace traceinject {
namespace {

// Late in so many of its steps, and others (those that are no suspects) in a quarter of that.
constexpr double kMinLateShare = 0.6;
constexpr double kMaxLateRatio = 0.25;
// A kernel is larger from so many times the blocks on, and a rank has more work if as large a share
// of its time is in such.
constexpr double kLarger = 1.05, kMinLargerShare = 0.1;
// Kernels and lines with less of the excess are not worth a look.
constexpr double kMinDifferenceShare = 0.05;

struct Lateness {
  std::vector<double> excess;  // per regular step that the rank has
  double mean = 0, low = 0;    // low: of the 95 % interval of the mean
  double late_share = 0;
};

// Mean length of the job's regular steps.
double StepLength(const Job& job, const JobSteps& steps, const WorkTable& work) {
  double sum = 0, count = 0;
  for (const std::size_t step : work.regular_steps()) {
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
      const StepFacts* const facts = steps.Find(job, r, step);
      if (facts == nullptr) continue;
      sum += static_cast<double>(facts->time.end - facts->time.start);
      ++count;
    }
  }
  return count == 0 ? 0 : sum / count;
}

std::vector<Lateness> MeasureLateness(const WorkTable& work, double floor_ns) {
  std::vector<Lateness> all(work.ranks());
  for (std::size_t r = 0; r < work.ranks(); ++r) {
    Lateness& one = all[r];
    double late = 0;
    for (const std::size_t step : work.regular_steps()) {
      const std::optional<double> excess = work.excess_ns(r, step);
      if (!excess) continue;
      one.excess.push_back(*excess);
      late += *excess > floor_ns / 2 ? 1 : 0;
    }
    if (one.excess.empty()) continue;
    one.mean = Mean(one.excess);
    one.late_share = late / static_cast<double>(one.excess.size());
    if (one.mean > floor_ns) one.low = Middle95(ResampledMeans(one.excess)).low;
  }
  return all;
}

// Persistently late ranks.
std::vector<std::size_t> FindSuspects(const WorkTable& work, const std::vector<Lateness>& lateness,
                                      double floor_ns) {
  std::vector<std::size_t> likely;
  for (std::size_t r = 0; r < lateness.size(); ++r) {
    if (lateness[r].mean > floor_ns && lateness[r].low > floor_ns / 2 &&
        lateness[r].late_share >= kMinLateShare)
      likely.push_back(r);
  }
  std::vector<std::size_t> suspects;
  for (const std::size_t r : likely) {
    double others = 0, count = 0;
    for (const std::size_t peer : work.peers(r)) {
      if (std::binary_search(likely.begin(), likely.end(), peer)) continue;
      others += lateness[peer].late_share;
      ++count;
    }
    if (count > 0 && others / count <= kMaxLateRatio * lateness[r].late_share)
      suspects.push_back(r);
  }
  return suspects;
}

// Mean over regular steps of a rank.
template <typename Value>
double StepMean(const Job& job, const JobSteps& steps, const WorkTable& work, std::size_t rank,
                Value value) {
  double sum = 0, count = 0;
  for (const std::size_t step : work.regular_steps()) {
    const StepFacts* const facts = steps.Find(job, rank, step);
    if (facts == nullptr) continue;
    sum += static_cast<double>(value(*facts));
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

// Explains what one rank does longer than its peers that are no suspects.
class Explainer {
 public:
  Explainer(const Job& job, const JobSteps& steps, const WorkTable& work,
            const std::vector<std::size_t>& suspects)
      : job_(job), steps_(steps), work_(work), suspects_(suspects) {}

  void Explain(std::size_t rank, Straggler& to) const {
    const std::vector<std::size_t> peers = Peers(rank);
    const auto over = [&](auto value) {
      std::vector<double> others;
      for (const std::size_t peer : peers)
        others.push_back(StepMean(job_, steps_, work_, peer, value));
      return StepMean(job_, steps_, work_, rank, value) - Median(others);
    };
    to.compute_ns =
        over([](const StepFacts& step) { return step.compute_ns + step.exposed_copy_ns; });
    double most_idle = 0;
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      const double idle = over([&](const StepFacts& step) { return step.idle_ns[i]; });
      to.idle_ns += idle;
      if (idle > most_idle) {
        most_idle = idle;
        to.idle_cause = static_cast<IdleCause>(i);
      }
    }
    std::vector<double> hosts;
    for (const std::size_t peer : peers)
      hosts.push_back(static_cast<double>(job_.ranks[peer].host_step_ns));
    to.host_ns = static_cast<double>(job_.ranks[rank].host_step_ns);
    to.peers_host_ns = Median(hosts);
    CompareUsualKernels(rank, peers, to);
    CompareClocks(rank, peers, to);
    if (to.compute_ns <= to.idle_ns) {
      to.slowness = Slowness::kHost;
    } else {
      // What the kernels of the same name take longer explains the time, or what it runs besides.
      // Kernels that are larger on it take longer on any GPU; not all show it, as many launch one
      // block for each multiprocessor, whatever they have to do.
      const double slower = to.kernel_ratio - 1, more = to.kernel_count_ratio - 1;
      to.slowness = slower >= more && to.larger_share < kMinLargerShare ? Slowness::kSlowerGpu
                                                                        : Slowness::kMoreWork;
    }
    NameDifferences(rank, peers, to);
  }

 private:
  std::vector<std::size_t> Peers(std::size_t rank) const {
    std::vector<std::size_t> peers;
    for (const std::size_t peer : work_.peers(rank)) {
      if (peer != rank && !std::binary_search(suspects_.begin(), suspects_.end(), peer))
        peers.push_back(peer);
    }
    return peers;
  }

  void NameDifferences(std::size_t rank, const std::vector<std::size_t>& peers,
                       Straggler& to) const {
    const double least_ns = kMinDifferenceShare * to.excess_ns;
    if (to.slowness != Slowness::kHost) {
      to.kernels = CompareKernels(job_, rank, peers, least_ns);
      return;
    }
    if (to.idle_cause == IdleCause::kDataWait)
      to.lines = CompareLines(job_, rank, peers, true, least_ns);
    if (to.lines.empty()) to.lines = CompareLines(job_, rank, peers, false, least_ns);
  }

  // Of the kernels that the rank and a peer both ran, by the rank's time.
  void CompareUsualKernels(std::size_t rank, const std::vector<std::size_t>& peers,
                           Straggler& to) const {
    std::unordered_map<std::string_view, std::vector<double>> medians, blocks;
    std::vector<double> counts;
    for (const std::size_t peer : peers) {
      for (const KernelFacts& kernel : job_.ranks[peer].kernels) {
        medians[kernel.name].push_back(static_cast<double>(kernel.median_ns));
        blocks[kernel.name].push_back(static_cast<double>(kernel.blocks));
      }
      counts.push_back(
          StepMean(job_, steps_, work_, peer, [](const StepFacts& step) { return step.kernels; }));
    }
    double weighted = 0, weight = 0, larger = 0;
    for (const KernelFacts& kernel : job_.ranks[rank].kernels) {
      const auto others = medians.find(kernel.name);
      if (others == medians.end()) continue;
      const double usual = Median(others->second);
      if (usual <= 0) continue;
      const auto total = static_cast<double>(kernel.total_ns);
      weighted += total * static_cast<double>(kernel.median_ns) / usual;
      weight += total;
      const double usual_blocks = Median(blocks[kernel.name]);
      if (usual_blocks > 0 && static_cast<double>(kernel.blocks) > kLarger * usual_blocks)
        larger += total;
    }
    if (weight > 0) {
      to.kernel_ratio = weighted / weight;
      to.larger_share = larger / weight;
    }
    if (const double usual = Median(counts); usual > 0) {
      to.kernel_count_ratio =
          StepMean(job_, steps_, work_, rank, [](const StepFacts& step) { return step.kernels; }) /
          usual;
    }
  }

  void CompareClocks(std::size_t rank, const std::vector<std::size_t>& peers, Straggler& to) const {
    to.clock_mhz = job_.ranks[rank].busy_sm_clock_mhz;
    std::vector<double> clocks;
    for (const std::size_t peer : peers) {
      if (job_.ranks[peer].busy_sm_clock_mhz > 0)
        clocks.push_back(job_.ranks[peer].busy_sm_clock_mhz);
    }
    if (!clocks.empty()) to.peers_clock_mhz = Median(clocks);
  }

  const Job& job_;
  const JobSteps& steps_;
  const WorkTable& work_;
  const std::vector<std::size_t>& suspects_;
};

// Suspects that stand for one cause: those of a host of which all other ranks are suspects, too.
std::vector<std::vector<std::size_t>> GroupByHost(const Job& job,
                                                  const std::vector<std::size_t>& suspects) {
  std::map<std::string_view, std::size_t> ranks_of_host;
  for (const RankSummary& summary : job.ranks) ++ranks_of_host[summary.host];
  std::map<std::string_view, std::vector<std::size_t>> by_host;
  for (const std::size_t r : suspects) by_host[job.ranks[r].host].push_back(r);
  std::vector<std::vector<std::size_t>> sets;
  for (const auto& [host, members] : by_host) {
    if (!host.empty() && members.size() > 1 && ranks_of_host.size() > 1 &&
        members.size() == ranks_of_host[host]) {
      sets.push_back(members);
      continue;
    }
    for (const std::size_t r : members) sets.push_back({r});
  }
  return sets;
}

// Suspects at what their peers usually take, `least_ns` or more; the others without what they lose
// by waiting for them.
double AtUsual(const WorkTable& work, std::size_t rank, std::size_t step, bool suspected,
               double least_ns) {
  const std::optional<double> own = work.own_ns(rank, step), usual = work.usual_ns(rank, step);
  if (!own || !usual) return 1;
  return work.Factor(rank, step, suspected ? std::min(*own, std::max(*usual, least_ns)) : *own);
}

}  // namespace

JobSaving SavingOf(const JobReplay& replay, const JobChange& change) {
  return SavingBetween(replay.unchanged(), replay.Play(change));
}

JobSaving SavingBetween(const std::vector<double>& before, const std::vector<double>& after) {
  JobSaving saving;
  std::vector<double> saved;
  for (std::size_t i = 0; i < before.size(); ++i) saved.push_back(before[i] - after[i]);
  if (saved.empty()) return saving;
  saving.ns = Mean(saved);
  const Bounds bounds = Middle95(ResampledMeans(saved));
  saving.low_ns = bounds.low;
  saving.high_ns = bounds.high;
  return saving;
}

Skew FindSkew(const Job& job, const JobSteps& steps, const WorkTable& work,
              const WorkPieces& pieces, const SpellSteps& spells, const JobReplay& replay) {
  Skew skew;
  const double step_ns = StepLength(job, steps, work);
  if (step_ns <= 0 || work.regular_steps().size() < kMinJobSteps) return skew;
  const double floor_ns = std::max(kMinExcessShare * step_ns, double{kMinExcessNs});
  const std::vector<Lateness> lateness = MeasureLateness(work, floor_ns);
  const std::vector<std::size_t> suspects = FindSuspects(work, lateness, floor_ns);
  const Explainer explainer(job, steps, work, suspects);
  for (const std::vector<std::size_t>& members : GroupByHost(job, suspects)) {
    Straggler straggler;
    straggler.summaries = members;
    const std::size_t slowest = *std::max_element(
        members.begin(), members.end(),
        [&](std::size_t a, std::size_t b) { return lateness[a].mean < lateness[b].mean; });
    straggler.slowest = slowest;
    straggler.excess_ns = lateness[slowest].mean;
    straggler.late_share = lateness[slowest].late_share;
    explainer.Explain(slowest, straggler);
    const bool host = straggler.slowness == Slowness::kHost;
    if (host && straggler.host_ns > 0 &&
        straggler.host_ns - straggler.peers_host_ns < kMinHostExcessShare * straggler.host_ns)
      continue;
    JobChange usual;
    usual.own = [&](std::size_t rank, std::size_t step) {
      return AtUsual(work, rank, step, std::binary_search(members.begin(), members.end(), rank),
                     host ? straggler.peers_host_ns : 0);
    };
    straggler.saving = SavingOf(replay, usual);
    skew.stragglers.push_back(std::move(straggler));
  }
  std::stable_sort(
      skew.stragglers.begin(), skew.stragglers.end(),
      [](const Straggler& a, const Straggler& b) { return a.saving.ns > b.saving.ns; });
  if (skew.stragglers.empty())
    skew.imbalance = FindImbalance(job, work, pieces, spells, replay, step_ns);
  return skew;
}

}  // namespace traceinject
