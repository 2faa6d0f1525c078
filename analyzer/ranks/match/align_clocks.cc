// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/align_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "analyzer/common/median.h"
#include "analyzer/metrics/links/collectives.h"
#include "analyzer/ranks/match/clock_graph.h"
#include "analyzer/ranks/match/fit_line.h"

namespace traceinject {
namespace {

constexpr double kUsualDrift = 50e-6;    // of a clock against another
constexpr double kMinSpreadNs = 1'000;   // of ends, however well they agree
constexpr double kFewSpreadNs = 10'000;  // of so few that they do not show it
constexpr std::size_t kFew = 8;
constexpr std::size_t kMaxPoints = 4096;  // that a line is fitted to
constexpr double kBendNs = 20'000;        // a clock that leaves its line by more runs unevenly
constexpr double kHostAgreesNs = 10'000;  // beside three standard deviations
// The same; the times of two GPUs of one host were seen 18 us apart (tests/gpu/results/ranks.md).
constexpr double kOtherHostNs = 50'000;

// The operations of a group that all ranks enter before any leaves.
std::vector<std::size_t> TogetherOperations(const Job& job, const MatchedGroup& group) {
  std::vector<std::size_t> operations;
  if (group.pair) return operations;
  for (std::size_t at = 0; at < group.operations; ++at) {
    if (WaitsForAllRanks(KindOf(job, group, at).function)) operations.push_back(at);
  }
  return operations;
}

const GroupOperations& OperationsOf(const Job& job, const GroupMember& member) {
  return job.ranks[member.summary].groups[member.group];
}

// The clock of a member against that of another.
ClockFit FitMember(const Job& job, const MatchedGroup& group,
                   const std::vector<std::size_t>& operations, std::size_t member,
                   std::size_t reference) {
  const GroupOperations &own = OperationsOf(job, group.members[member]),
                        &other = OperationsOf(job, group.members[reference]);
  std::vector<std::size_t> both;
  for (const std::size_t at : operations) {
    if (group.row(at, member) != kNone && group.row(at, reference) != kNone) both.push_back(at);
  }
  ClockFit fit;
  fit.operations = both.size();
  if (both.empty()) return fit;
  std::vector<double> x, y;
  const std::size_t stride = 1 + both.size() / kMaxPoints;
  for (std::size_t i = 0; i < both.size(); i += stride) {
    const TimeNs end = own.end[group.row(both[i], member)];
    x.push_back(static_cast<double>(end));
    y.push_back(static_cast<double>(other.end[group.row(both[i], reference)] - end));
  }
  const Line line = FitLine(x, y, kUsualDrift, x.size() < kFew ? kFewSpreadNs : kMinSpreadNs);
  const double bend = BendOf(x, y, line);
  fit.aligned = true;
  fit.reference = static_cast<TimeNs>(line.x0);
  fit.offset_ns = line.At(static_cast<double>(fit.reference));
  fit.drift = line.slope;
  fit.used = {static_cast<TimeNs>(x.front()), static_cast<TimeNs>(x.back())};
  fit.sigma_ns = std::hypot(std::max(line.SigmaAt(x.front()), line.SigmaAt(x.back())), bend);
  if (bend > kBendNs)
    fit.reason = fmt::format("the clocks drift unevenly, by up to {:.0f} us", bend / 1000);
  return fit;
}

class Aligner {
 public:
  Aligner(const Job& job, const RankMatches& matches) : job_(job), matches_(matches) {
    for (const MatchedGroup& group : matches.groups)
      together_.push_back(TogetherOperations(job, group));
  }

  ClockAlignment Align() {
    const std::vector<ClockEdge> edges = Edges();
    alignment_.reference = Reference(edges);
    alignment_.ranks = FitsFrom(alignment_.reference, job_.ranks.size(), edges);
    Pool();
    NameTheOthers();
    Check();
    return std::move(alignment_);
  }

 private:
  // From each member of a group to one of them.
  std::vector<ClockEdge> Edges() const {
    std::vector<ClockEdge> edges;
    for (std::size_t g = 0; g < matches_.groups.size(); ++g) {
      if (together_[g].empty()) continue;
      const std::vector<ClockEdge> of_group = EdgesOf(matches_.groups[g], together_[g]);
      edges.insert(edges.end(), of_group.begin(), of_group.end());
    }
    return edges;
  }
  // To the member with the most operations; to another one if its clock seems to be a bad one.
  std::vector<ClockEdge> EdgesOf(const MatchedGroup& group,
                                 const std::vector<std::size_t>& together) const {
    std::vector<std::size_t> count(group.members.size()), order(group.members.size());
    for (const std::size_t at : together) {
      for (std::size_t member = 0; member < count.size(); ++member)
        count[member] += group.row(at, member) != kNone;
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return count[a] > count[b]; });
    constexpr std::size_t kMaxTries = 3;
    std::vector<ClockEdge> best;
    double least = 0;
    for (std::size_t i = 0; i < std::min(order.size(), kMaxTries); ++i) {
      std::vector<ClockEdge> edges = EdgesTo(group, together, order[i]);
      std::vector<double> sigmas;
      for (const ClockEdge& edge : edges) sigmas.push_back(edge.fit.sigma_ns);
      if (sigmas.empty()) continue;
      std::sort(sigmas.begin(), sigmas.end());
      const double usual = sigmas[sigmas.size() / 2];
      if (best.empty() || usual < least) best = std::move(edges), least = usual;
      if (least < kBendNs) break;
    }
    return best;
  }
  std::vector<ClockEdge> EdgesTo(const MatchedGroup& group,
                                 const std::vector<std::size_t>& together, std::size_t to) const {
    std::vector<ClockEdge> edges;
    for (std::size_t member = 0; member < group.members.size(); ++member) {
      if (member == to) continue;
      const ClockFit fit = FitMember(job_, group, together, member, to);
      if (fit.aligned)
        edges.push_back({group.members[member].summary, group.members[to].summary, fit});
    }
    return edges;
  }

  // The first rank of the most that hang together.
  std::size_t Reference(const std::vector<ClockEdge>& edges) const {
    std::vector<std::size_t> root(job_.ranks.size()), size(job_.ranks.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](std::size_t rank) {
      while (root[rank] != rank) rank = root[rank] = root[root[rank]];
      return rank;
    };
    for (const ClockEdge& edge : edges) {
      const std::size_t a = find(edge.from), b = find(edge.to);
      root[std::max(a, b)] = std::min(a, b);
    }
    for (std::size_t rank = 0; rank < root.size(); ++rank) ++size[find(rank)];
    return static_cast<std::size_t>(std::max_element(size.begin(), size.end()) - size.begin());
  }

  // The ranks of a host have one clock: they take the mean of what each found, and those that
  // found nothing take it too.
  void Pool() {
    std::map<std::string, std::vector<std::size_t>> hosts;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      if (!job_.ranks[rank].host.empty()) hosts[job_.ranks[rank].host].push_back(rank);
    }
    for (const auto& [host, ranks] : hosts) PoolHost(host, ranks);
  }
  void PoolHost(const std::string& host, const std::vector<std::size_t>& ranks) {
    // What they found holds while they had operations together: a drift that is known to one in a
    // million is microseconds off over a start-up of seconds.
    std::vector<std::size_t> known;
    TimeNs first = std::numeric_limits<TimeNs>::min(), last = kOpen;
    for (const std::size_t rank : ranks) {
      if (!alignment_.ranks[rank].aligned) continue;
      known.push_back(rank);
      first = std::max(first, alignment_.ranks[rank].used.start);
      last = std::min(last, alignment_.ranks[rank].used.end);
    }
    if (known.empty() || ranks.size() < 2) return;
    if (last <= first) std::swap(first, last);
    last = std::max(last, first + 1);
    const Sides middle = Median(known, first, last);
    const double usual_sigma = UsualSigma(known);
    std::vector<std::size_t> agree;
    std::size_t far = 0;
    for (const std::size_t rank : known) {
      const double apart = Apart(At(alignment_.ranks[rank], first, last), middle);
      const double sigma = alignment_.ranks[rank].sigma_ns;
      if (apart <= 3 * sigma + kHostAgreesNs) agree.push_back(rank);
      far += apart > 3 * std::max(sigma, usual_sigma) + kOtherHostNs ? 1 : 0;
    }
    if (far > 0) {
      alignment_.notes.push_back(
          fmt::format("{} of {} ranks on host {} disagree about its clock offset: their operations "
                      "may be mismatched, or the name covers several hosts.",
                      far, known.size(), host));
    }
    if (agree.size() * 2 <= known.size()) return;
    const ClockFit pooled = Mean(agree, first, last);
    for (const std::size_t rank : agree) {
      // Each GPU's times are converted to the host's clock by themselves: what it is off by stays
      // where it shows.
      ClockFit& own = alignment_.ranks[rank];
      if (Apart(At(own, first, last), At(pooled, first, last)) <=
          3 * std::max(own.sigma_ns, kMinSpreadNs))
        Take(pooled, own);
    }
    for (const std::size_t rank : ranks) {
      if (alignment_.ranks[rank].aligned) continue;
      Take(pooled, alignment_.ranks[rank]);
      alignment_.ranks[rank].reason = "by its host's clock alone";
    }
  }
  // By how much the job's clock is ahead at two times of the host's.
  struct Sides {
    double first = 0, last = 0;
  };
  static double Apart(const Sides& a, const Sides& b) {
    return std::max(std::abs(a.first - b.first), std::abs(a.last - b.last));
  }
  static Sides At(const ClockFit& fit, TimeNs first, TimeNs last) {
    const auto ahead = [&](TimeNs time) {
      return fit.offset_ns + fit.drift * static_cast<double>(time - fit.reference);
    };
    return {ahead(first), ahead(last)};
  }
  Sides Median(const std::vector<std::size_t>& ranks, TimeNs from, TimeNs to) const {
    std::vector<double> first, last;
    for (const std::size_t rank : ranks) {
      const Sides sides = At(alignment_.ranks[rank], from, to);
      first.push_back(sides.first);
      last.push_back(sides.last);
    }
    const auto middle = static_cast<std::ptrdiff_t>(ranks.size() / 2);
    std::nth_element(first.begin(), first.begin() + middle, first.end());
    std::nth_element(last.begin(), last.begin() + middle, last.end());
    return {first[ranks.size() / 2], last[ranks.size() / 2]};
  }
  // The reference rank knows its own clock; what it is compared with is less certain.
  double UsualSigma(const std::vector<std::size_t>& ranks) const {
    std::vector<double> sigmas;
    for (const std::size_t rank : ranks) sigmas.push_back(alignment_.ranks[rank].sigma_ns);
    return traceinject::Median(std::move(sigmas));
  }
  // Weighted by certainty; on the host of the reference rank, its clock. Those that came the same
  // way share its errors, so that the mean is taken to be no more certain than the best of them.
  ClockFit Mean(const std::vector<std::size_t>& ranks, TimeNs from, TimeNs to) const {
    double weights = 0;
    Sides sum;
    ClockFit mean = alignment_.ranks[ranks[0]];
    for (const std::size_t rank : ranks) {
      const ClockFit& fit = alignment_.ranks[rank];
      if (rank == alignment_.reference) return fit;
      const double sigma = std::max(fit.sigma_ns, kMinSpreadNs);
      const Sides sides = At(alignment_.ranks[rank], from, to);
      weights += 1 / (sigma * sigma);
      sum.first += sides.first / (sigma * sigma);
      sum.last += sides.last / (sigma * sigma);
      mean.sigma_ns = std::min(mean.sigma_ns, fit.sigma_ns);
      mean.operations = std::max(mean.operations, fit.operations);
    }
    mean.reference = from;
    mean.offset_ns = sum.first / weights;
    mean.drift = (sum.last - sum.first) / weights / static_cast<double>(to - from);
    return mean;
  }
  static void Take(const ClockFit& pooled, ClockFit& fit) {
    const std::string reason = std::move(fit.reason);
    fit = pooled;
    fit.reason = reason;
  }

  void NameTheOthers() {
    std::size_t others = 0;
    for (ClockFit& fit : alignment_.ranks) {
      if (fit.aligned) continue;
      ++others;
      fit.reason = fmt::format("shares no synchronizing collective with rank {}",
                               job_.ranks[alignment_.reference].rank);
    }
    if (others > 0)
      alignment_.notes.push_back(
          fmt::format("The clocks of {} of {} ranks could not be aligned with the rest.", others,
                      job_.ranks.size()));
  }

  // No rank can end before the last began.
  void Check() {
    for (std::size_t g = 0; g < matches_.groups.size(); ++g) {
      std::size_t impossible = 0;
      for (const std::size_t at : together_[g]) impossible += IsImpossible(matches_.groups[g], at);
      alignment_.operations += together_[g].size();
      alignment_.impossible += impossible;
      if (impossible == 0) continue;
      const MatchedGroup& group = matches_.groups[g];
      alignment_.notes.push_back(fmt::format(
          "{} of {} operations on {} ended on one rank before all ranks had started: they are "
          "mismatched, or do not wait for all ranks.",
          impossible, together_[g].size(),
          group.name.empty() ? fmt::format("a communicator of {}", group.size) : group.name));
    }
  }
  bool IsImpossible(const MatchedGroup& group, std::size_t at) const {
    TimeNs last_start = std::numeric_limits<TimeNs>::min(), first_end = kOpen;
    for (std::size_t member = 0; member < group.members.size(); ++member) {
      const std::uint32_t row = group.row(at, member);
      const ClockFit& fit = alignment_.ranks[group.members[member].summary];
      if (row == kNone || !fit.aligned) continue;
      const GroupOperations& own = OperationsOf(job_, group.members[member]);
      last_start = std::max(last_start, ToJob(fit, own.start[row]));
      first_end = std::min(first_end, ToJob(fit, own.end[row]));
    }
    return first_end < kOpen && last_start > first_end + kMaxViolationNs;
  }

  const Job& job_;
  const RankMatches& matches_;
  std::vector<std::vector<std::size_t>> together_;  // per group
  ClockAlignment alignment_;
};

}  // namespace

TimeNs ToJob(const ClockFit& fit, TimeNs own) {
  return own + static_cast<TimeNs>(std::llround(
                   fit.offset_ns + fit.drift * static_cast<double>(own - fit.reference)));
}

ClockAlignment AlignClocks(const Job& job, const RankMatches& matches) {
  if (job.ranks.empty()) return {};
  return Aligner(job, matches).Align();
}

}  // namespace traceinject
