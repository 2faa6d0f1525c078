// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/replay/work_pieces.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/common/mean.h"

namespace traceinject {

class PieceFinder {
 public:
  PieceFinder(const Job& job, const JobSteps& steps, const std::vector<OwnTime>& own,
              const std::vector<std::uint32_t>& stage, WorkPieces& to)
      : job_(job), steps_(steps), own_(own), stage_(stage), to_(to) {
    to_.of_ranks_.resize(job.ranks.size());
  }

  void AddTold() {
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
      const RankSummary& rank = job_.ranks[r];
      if (!steps_.first[r]) continue;
      std::vector<std::uint32_t> kinds;
      for (const std::string& kind : rank.work_kinds) kinds.push_back(KindNamed(kind));
      for (std::size_t i = 0; i < rank.work.count(); ++i) {
        if (rank.work.step[i] == kNone) continue;
        Add(r, {own_[r].At(rank.work.start[i]), own_[r].At(rank.work.end[i]),
                static_cast<std::uint32_t>(*steps_.first[r] + rank.work.step[i]),
                kinds[rank.work.kind[i]], rank.work.micro_batch[i]});
      }
    }
  }

  void AddBetweenExchanges(const std::vector<MatchedGroup>& groups) {
    std::vector<std::vector<Mark>> marks(job_.ranks.size());
    for (const MatchedGroup& group : groups) {
      if (!group.pair) continue;
      for (std::size_t m = 0; m < group.members.size(); ++m)
        MarkExchanges(group, m, marks[group.members[m].summary]);
    }
    to_.kinds_.resize(std::size_t{kMarks} * kMarks);
    for (std::size_t r = 0; r < marks.size(); ++r) {
      if (!marks[r].empty()) AddBetween(r, std::exchange(marks[r], {}));
    }
  }

 private:
  // What happens at a mark: a step ends, or an exchange (Send, Recv or both, with the stage before
  // or after) begins or ends.
  static constexpr std::uint32_t kStep = 0, kMarks = 13;
  // A moment of a rank.
  struct Mark {
    TimeNs own = 0, wall = 0;
    std::uint32_t step = kNone;  // of the job, that ends here; kNone: none does
    std::uint32_t what = kStep;
  };

  void MarkExchanges(const MatchedGroup& group, std::size_t member, std::vector<Mark>& to) const {
    const std::size_t r = group.members[member].summary;
    const std::uint32_t peer = stage_[group.members[1 - member].summary];
    if (stage_[r] == kNone || peer == kNone || peer == stage_[r]) return;
    const GroupOperations& rows = job_.ranks[r].groups[group.members[member].group];
    for (std::size_t op = 0; op < group.operations; ++op) {
      const std::uint32_t row = group.row(op, member);
      if (row == kNone) continue;
      const std::string& function = job_.ranks[r].kinds[rows.kind[row]].function;
      const std::uint32_t which = function == "Send" ? 0 : function == "Recv" ? 1 : 2;
      const std::uint32_t begins = 1 + 4 * which + (peer > stage_[r] ? 2 : 0);
      to.push_back({own_[r].At(rows.start[row]), rows.start[row], kNone, begins});
      if (rows.blocked_ns[row] > 0)
        to.push_back({own_[r].At(rows.end[row]), rows.end[row], kNone, begins + 1});
    }
  }

  void AddBetween(std::size_t r, std::vector<Mark> marks) {
    for (std::size_t i = 0; i < job_.ranks[r].steps.size() && steps_.first[r]; ++i) {
      const Interval time = job_.ranks[r].steps[i].time;
      const auto step = static_cast<std::uint32_t>(*steps_.first[r] + i);
      marks.push_back({own_[r].At(time.end), time.end, step, kStep});
    }
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
      return std::tie(a.own, a.wall) < std::tie(b.own, b.wall);
    });
    // Steps are known at their ends, so from the back.
    for (std::size_t i = marks.size(); i-- > 1;) {
      if (marks[i - 1].step == kNone) marks[i - 1].step = marks[i].step;
    }
    for (std::size_t i = 1; i < marks.size(); ++i) {
      if (marks[i].step != kNone)
        Add(r, {marks[i - 1].own, marks[i].own, marks[i].step,
                marks[i - 1].what * kMarks + marks[i].what, -1});
    }
  }

  std::uint32_t KindNamed(const std::string& name) {
    const auto found = std::find(to_.kinds_.begin(), to_.kinds_.end(), name);
    if (found != to_.kinds_.end()) return static_cast<std::uint32_t>(found - to_.kinds_.begin());
    to_.kinds_.push_back(name);
    return static_cast<std::uint32_t>(to_.kinds_.size() - 1);
  }

  void Add(std::size_t r, const WorkPiece& piece) {
    if (piece.end <= piece.start) return;
    to_.of_ranks_[r].push_back(piece);
    ++to_.count_;
  }

  const Job& job_;
  const JobSteps& steps_;
  const std::vector<OwnTime>& own_;
  const std::vector<std::uint32_t>& stage_;
  WorkPieces& to_;
};

WorkPieces::WorkPieces(const Job& job, const std::vector<MatchedGroup>& groups,
                       const JobSteps& steps, const std::vector<OwnTime>& own,
                       const std::vector<std::uint32_t>& stage)
    : steps_(steps.count), stage_(stage) {
  PieceFinder finder(job, steps, own, stage, *this);
  finder.AddTold();
  are_told_ = count_ > 0;
  if (!are_told_) finder.AddBetweenExchanges(groups);
}

PieceFactors WorkPieces::AtEvenStages() const {
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // stage and kind
  std::map<Key, std::vector<double>> of_ranks;
  std::set<std::uint32_t> stages;
  for (std::size_t r = 0; r < of_ranks_.size(); ++r) {
    std::map<std::uint32_t, std::vector<double>> lengths;  // by kind
    for (const WorkPiece& piece : of_ranks_[r]) lengths[piece.kind].push_back(piece.length());
    for (auto& [kind, of_kind] : lengths) of_ranks[{stage_[r], kind}].push_back(Mean(of_kind));
    if (!of_ranks_[r].empty()) stages.insert(stage_[r]);
  }
  std::map<Key, double> usual;
  std::map<std::uint32_t, std::vector<double>> of_stages;  // by kind
  for (auto& [key, means] : of_ranks) {
    const auto middle = means.begin() + static_cast<std::ptrdiff_t>((means.size() - 1) / 2);
    std::nth_element(means.begin(), middle, means.end());
    usual[key] = *middle;
    of_stages[key.second].push_back(*middle);
  }
  PieceFactors factors(of_ranks_.size());
  for (std::size_t r = 0; r < of_ranks_.size(); ++r) {
    for (const WorkPiece& piece : of_ranks_[r]) {
      const std::vector<double>& all = of_stages.at(piece.kind);
      factors[r].push_back(
          all.size() < stages.size() ? 1 : Mean(all) / usual.at({stage_[r], piece.kind}));
    }
  }
  return factors;
}

PieceFactors WorkPieces::AtMean(Alike alike) const {
  std::map<std::uint32_t, std::vector<std::size_t>> sets;  // ranks whose pieces are compared
  for (std::size_t r = 0; r < of_ranks_.size(); ++r) {
    const std::uint32_t set = alike == Alike::kOfRank    ? static_cast<std::uint32_t>(r)
                              : alike == Alike::kOfStage ? stage_[r]
                                                         : 0;
    sets[set].push_back(r);
  }
  PieceFactors factors(of_ranks_.size());
  for (const auto& [set, ranks] : sets) TakeMean(ranks, factors);
  return factors;
}

void WorkPieces::TakeMean(const std::vector<std::size_t>& ranks, PieceFactors& factors) const {
  struct Sum {
    double ns = 0, count = 0;
  };
  std::vector<Sum> sums(steps_ * kinds_.size());
  const auto sum_of = [&](const WorkPiece& piece) -> Sum& {
    return sums[piece.step * kinds_.size() + piece.kind];
  };
  for (const std::size_t r : ranks) {
    for (const WorkPiece& piece : of_ranks_[r]) {
      Sum& sum = sum_of(piece);
      sum.ns += piece.length();
      ++sum.count;
    }
  }
  for (const std::size_t r : ranks) {
    for (const WorkPiece& piece : of_ranks_[r]) {
      const Sum& sum = sum_of(piece);
      factors[r].push_back(sum.ns / sum.count / piece.length());
    }
  }
}

}  // namespace traceinject
