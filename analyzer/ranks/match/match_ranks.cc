// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/match_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "analyzer/metrics/links/collectives.h"
#include "analyzer/ranks/match/align_operations.h"
#include "analyzer/ranks/match/find_mismatches.h"
#include "analyzer/ranks/match/operation_axis.h"

namespace traceinject {
namespace {

// Numbers function and bytes the same on all ranks.
class Kinds {
 public:
  explicit Kinds(const Job& job) {
    for (const RankSummary& rank : job.ranks) {
      std::vector<std::uint32_t>& numbers = of_rank_.emplace_back();
      for (const OperationKind& kind : rank.kinds)
        numbers.push_back(Number(kind.function, kind.bytes));
    }
  }

  // Of a kind of a rank; for the second of a pair as the first sees it.
  std::uint32_t Of(std::size_t summary, std::uint32_t kind, bool mirrored) {
    const std::uint32_t number = of_rank_[summary][kind];
    return mirrored ? Mirrored(number) : number;
  }
  bool Together(std::uint32_t kind) const { return together_[kind]; }
  std::uint32_t Function(std::uint32_t kind) const { return function_[kind]; }
  const std::vector<OperationKind>& all() const { return all_; }

 private:
  std::uint32_t Number(const std::string& function, std::int64_t bytes) {
    const auto next = static_cast<std::uint32_t>(all_.size());
    const auto [found, is_new] = numbers_.try_emplace({function, bytes}, next);
    if (is_new) {
      const auto function_next = static_cast<std::uint32_t>(functions_.size());
      all_.push_back({function, bytes});
      function_.push_back(functions_.try_emplace(function, function_next).first->second);
      together_.push_back(WaitsForAllRanks(function));
      mirrored_.push_back(kNone);
    }
    return found->second;
  }
  std::uint32_t Mirrored(std::uint32_t number) {
    if (mirrored_[number] == kNone) {
      const OperationKind kind = all_[number];
      const std::uint32_t mirrored = Number(kind.function == "Send"   ? "Recv"
                                            : kind.function == "Recv" ? "Send"
                                                                      : kind.function,
                                            kind.bytes);
      mirrored_[number] = mirrored;
    }
    return mirrored_[number];
  }

  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> numbers_;
  std::map<std::string, std::uint32_t> functions_;
  std::vector<OperationKind> all_;
  std::vector<std::uint32_t> function_, mirrored_;
  std::vector<bool> together_;
  std::vector<std::vector<std::uint32_t>> of_rank_;
};

class Matcher {
 public:
  explicit Matcher(const Job& job) : job_(job), kinds_(job) {}

  RankMatches Match() {
    for (const auto& [key, members] : Communicators()) {
      MatchCollectives(members);
      MatchPairs(members);
    }
    AddNotes();
    return std::move(matches_);
  }

 private:
  using Members = std::vector<GroupMember>;
  using Rows = std::vector<std::uint32_t>;

  const GroupOperations& Group(const GroupMember& member) const {
    return job_.ranks[member.summary].groups[member.group];
  }
  const std::string& FunctionOf(const GroupMember& member, std::uint32_t row) const {
    return job_.ranks[member.summary].kinds[Group(member).kind[row]].function;
  }

  // By (hash, life); members by rank in them, each once.
  std::map<std::pair<std::uint64_t, int>, Members> Communicators() {
    std::map<std::pair<std::uint64_t, int>, Members> found;
    for (std::uint32_t summary = 0; summary < job_.ranks.size(); ++summary) {
      const std::vector<GroupOperations>& groups = job_.ranks[summary].groups;
      for (std::uint32_t group = 0; group < groups.size(); ++group) {
        if (groups[group].hash == 0) {
          unknown_ += groups[group].count();
        } else {
          found[{groups[group].hash, groups[group].life}].push_back({summary, group});
        }
      }
    }
    for (auto& [key, members] : found) {
      std::stable_sort(members.begin(), members.end(),
                       [&](const auto& a, const auto& b) { return Group(a).rank < Group(b).rank; });
      const auto end =
          std::unique(members.begin(), members.end(), [&](const auto& a, const auto& b) {
            return Group(a).rank >= 0 && Group(a).rank == Group(b).rank;
          });
      for (auto twice = end; twice != members.end(); ++twice) ++twice_;
      members.erase(end, members.end());
    }
    return found;
  }

  void MatchCollectives(const Members& members) {
    std::vector<Rows> rows(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      const GroupOperations& group = Group(members[i]);
      rows[i].reserve(group.count());
      for (std::uint32_t row = 0; row < group.count(); ++row) {
        if (!IsBetweenTwo(FunctionOf(members[i], row))) rows[i].push_back(row);
      }
    }
    MatchRows(members, rows, false);
  }

  // By the lower and the higher rank in the communicator: the rows of each.
  void MatchPairs(const Members& members) {
    std::map<std::pair<int, int>, std::array<std::pair<GroupMember, Rows>, 2>> pairs;
    for (const GroupMember& member : members) {
      const GroupOperations& group = Group(member);
      for (std::uint32_t row = 0; row < group.count(); ++row) {
        const int peer = group.peer[row], own = group.rank;
        if (!IsBetweenTwo(FunctionOf(member, row))) continue;
        if (peer < 0 || own < 0 || peer == own) {
          ++without_peer_;
          continue;
        }
        auto& [who, rows] = pairs[std::minmax(own, peer)][own < peer ? 0 : 1];
        who = member;
        rows.push_back(row);
      }
    }
    for (const auto& [ranks, sides] : pairs) {
      if (sides[0].second.empty() || sides[1].second.empty()) continue;  // one was not recorded
      MatchRows({sides[0].first, sides[1].first}, {sides[0].second, sides[1].second}, true);
    }
  }

  std::vector<SequencedOperation> Sequence(const GroupMember& member, const Rows& rows, bool pair,
                                           bool mirrored) {
    const GroupOperations& group = Group(member);
    std::vector<SequencedOperation> operations;
    operations.reserve(rows.size());
    for (const std::uint32_t row : rows) {
      const std::uint32_t kind = kinds_.Of(member.summary, group.kind[row], mirrored);
      // The numbers of a Send and of its Recv have nothing to do with each other.
      operations.push_back({group.start[row], group.end[row], kind, kinds_.Function(kind),
                            pair ? -1 : group.sequence[row], pair || kinds_.Together(kind)});
    }
    return operations;
  }

  void MatchRows(const Members& members, const std::vector<Rows>& rows, bool pair) {
    MatchedGroup group;
    std::vector<std::size_t> in_order;  // that have any, the one with the most first
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!rows[i].empty()) in_order.push_back(i);
    }
    if (in_order.size() < 2) return;
    std::iter_swap(in_order.begin(),
                   std::max_element(in_order.begin(), in_order.end(), [&](auto a, auto b) {
                     return rows[a].size() < rows[b].size();
                   }));
    OperationAxis axis;
    const RankSummary& first = job_.ranks[members[in_order[0]].summary];
    for (const std::size_t i : in_order) {
      const RankSummary& summary = job_.ranks[members[i].summary];
      AlignOptions options;
      options.same_clock = !summary.host.empty() && summary.host == first.host;
      options.may_be_apart = pair;
      axis.Add(Sequence(members[i], rows[i], pair, pair && i == 1), rows[i], options);
    }
    Describe(Group(members[in_order[0]]), pair, group);
    std::vector<std::size_t> by_rank(in_order.size()), place(in_order.size());
    std::iota(by_rank.begin(), by_rank.end(), 0);
    std::sort(by_rank.begin(), by_rank.end(),
              [&](auto a, auto b) { return in_order[a] < in_order[b]; });
    for (const std::size_t at : by_rank) group.members.push_back(members[in_order[at]]);
    group.operations = axis.operations().size();
    group.rows = SortMembers(axis.TakeRows(), by_rank);
    std::vector<Mismatch> found = FindMismatches(job_, group, axis, by_rank, kinds_.all());
    if (group.hash == kAssumedWorld && !IsTheWorld(group, found)) return;
    std::move(found.begin(), found.end(), std::back_inserter(matches_.mismatches));
    LeaveOutThoseOfOne(group);
    NoteStrangers(group);
    if (group.operations > 0) matches_.groups.push_back(std::move(group));
  }
  // Whether operations of which no communicator is told are those of one of all ranks. Otherwise a
  // note says why not.
  bool IsTheWorld(const MatchedGroup& group, const std::vector<Mismatch>& mismatches) {
    std::string why;
    if (group.members.size() < static_cast<std::size_t>(group.size)) {
      why = fmt::format("of {} ranks {} were read", group.size, group.members.size());
    } else if (Disagree(group, mismatches)) {
      why = "the ranks issued different operations";
    } else if (!group.pair && (FitApart(group) || EndApart(group))) {
      why = "they do not end together on all ranks";
    } else {
      return true;
    }
    matches_.notes.push_back(
        fmt::format("{} operations were not matched across ranks: the traces do not tell their "
                    "communicator, and it cannot be that of all ranks, because {}.",
                    group.operations, why));
    return false;
  }
  // Where recordings begin and end some may lack a few.
  static bool Disagree(const MatchedGroup& group, const std::vector<Mismatch>& mismatches) {
    constexpr std::size_t kOneOf = 50;
    std::size_t lacking = 0;
    for (const Mismatch& one : mismatches) {
      if (one.kind == Mismatch::Kind::kOtherOperation || one.kind == Mismatch::Kind::kOtherSize)
        return true;
      if (one.kind == Mismatch::Kind::kLacks) lacking += static_cast<std::size_t>(one.operations);
    }
    return lacking * kOneOf > group.operations * group.members.size();
  }
  // Whether many fit those of a part of the ranks only.
  static bool FitApart(const MatchedGroup& group) {
    constexpr double kMostFit = 0.9;
    const std::size_t members = group.members.size();
    std::size_t complete = 0;
    for (std::size_t at = 0; at < group.operations; ++at) {
      std::size_t member = 0;
      while (member < members && group.row(at, member) != kNone) ++member;
      complete += member == members ? 1 : 0;
    }
    return static_cast<double>(complete) < kMostFit * static_cast<double>(group.operations);
  }
  // None can leave before all have entered, so that they end together: on clocks that differ, after
  // one time all the while. Of groups that go their own ways that changes from one to the next.
  bool EndApart(const MatchedGroup& group) const {
    constexpr TimeNs kTogetherNs = 500'000;
    for (std::size_t member = 1; member < group.members.size(); ++member) {
      std::vector<TimeNs> changes;
      std::optional<TimeNs> before;
      for (std::size_t at = 0; at < group.operations; ++at) {
        const std::uint32_t first = group.row(at, 0), other = group.row(at, member);
        if (first == kNone || other == kNone ||
            !WaitsForAllRanks(FunctionOf(group.members[0], first)))
          continue;
        const TimeNs apart =
            Group(group.members[member]).end[other] - Group(group.members[0]).end[first];
        if (before) changes.push_back(std::abs(apart - *before));
        before = apart;
      }
      if (changes.empty()) continue;
      const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);
      std::nth_element(changes.begin(), middle, changes.end());
      if (*middle > kTogetherNs) return true;
    }
    return false;
  }
  static void Describe(const GroupOperations& from, bool pair, MatchedGroup& group) {
    group.hash = from.hash;
    group.life = from.life;
    group.size = from.size;
    group.name = from.name;
    group.pair = pair;
  }
  // Brings the members of each operation from the order of the axis into that of their ranks.
  static Rows SortMembers(Rows rows, const std::vector<std::size_t>& by_rank) {
    Rows one(by_rank.size());
    for (std::size_t from = 0; from < rows.size(); from += by_rank.size()) {
      for (std::size_t i = 0; i < by_rank.size(); ++i) one[i] = rows[from + by_rank[i]];
      std::copy(one.begin(), one.end(), rows.begin() + static_cast<std::ptrdiff_t>(from));
    }
    return rows;
  }
  static void LeaveOutThoseOfOne(MatchedGroup& group) {
    const auto members = static_cast<std::ptrdiff_t>(group.members.size());
    std::size_t kept = 0;
    for (std::size_t at = 0; at < group.operations; ++at) {
      const auto first = group.rows.begin() + static_cast<std::ptrdiff_t>(at) * members;
      if (members - std::count(first, first + members, kNone) < 2) continue;
      std::copy(first, first + members,
                group.rows.begin() + static_cast<std::ptrdiff_t>(kept++) * members);
    }
    group.operations = kept;
    group.rows.resize(kept * group.members.size());
    group.rows.shrink_to_fit();
  }

  // Members none of whose operations fit those of another.
  void NoteStrangers(const MatchedGroup& group) {
    for (std::size_t member = 0; member < group.members.size(); ++member) {
      std::size_t at = 0;
      while (at < group.operations && group.row(at, member) == kNone) ++at;
      if (at < group.operations) continue;
      matches_.notes.push_back(
          fmt::format("The operations of rank {} on {} match none of the other ranks' operations.",
                      job_.ranks[group.members[member].summary].rank,
                      group.name.empty() ? "a communicator" : group.name));
    }
  }

  void AddNotes() {
    if (unknown_ > 0)
      matches_.notes.push_back(fmt::format(
          "{} operations with an unknown communicator were not matched across ranks.", unknown_));
    if (without_peer_ > 0)
      matches_.notes.push_back(fmt::format(
          "{} Sends and Recvs with several peers or an unknown peer were not matched across ranks.",
          without_peer_));
    if (twice_ > 0)
      matches_.notes.push_back(fmt::format(
          "{} recordings claim a communicator rank that another recording has; they were left out.",
          twice_));
  }

  const Job& job_;
  Kinds kinds_;
  RankMatches matches_;
  std::size_t unknown_ = 0, without_peer_ = 0, twice_ = 0;
};

}  // namespace

RankMatches MatchRanks(const Job& job) { return Matcher(job).Match(); }

const OperationKind& KindOf(const Job& job, const MatchedGroup& group, std::size_t operation) {
  std::size_t member = 0;
  while (group.row(operation, member) == kNone) ++member;
  const GroupMember& who = group.members[member];
  const RankSummary& summary = job.ranks[who.summary];
  return summary.kinds[summary.groups[who.group].kind[group.row(operation, member)]];
}

bool IsBetweenTwo(std::string_view function) {
  return function == "Send" || function == "Recv" || function == "Send+Recv";
}

}  // namespace traceinject
