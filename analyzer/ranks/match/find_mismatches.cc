// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/find_mismatches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace traceinject {
namespace {

class MismatchFinder {
 public:
  MismatchFinder(const Job& job, const MatchedGroup& group, const OperationAxis& axis,
                 std::span<const std::size_t> order, std::span<const OperationKind> kinds)
      : job_(job), group_(group), axis_(axis), order_(order), kinds_(kinds) {
    const std::size_t members = group.members.size();
    first_.assign(members, group.operations);
    last_.assign(members, 0);
    count_.assign(group.operations, 0);
    for (std::size_t at = 0; at < group.operations; ++at) {
      for (std::size_t member = 0; member < members; ++member) {
        count_[at] += Has(at, member);
      }
      for (std::size_t member = 0; member < members; ++member) {
        if (count_[at] < 2 || !Has(at, member)) continue;
        first_[member] = std::min(first_[member], at);
        last_[member] = at;
      }
    }
  }

  std::vector<Mismatch> Find() {
    for (std::size_t at = 0; at < group_.operations;) {
      std::size_t to = at;
      while (to < group_.operations && count_[to] < group_.members.size()) ++to;
      LookAt(at, to);
      at = to + 1;
    }
    std::vector<Mismatch> found;
    for (auto& [place, mismatch] : found_) {
      mismatch.sentence = Sentence(place.first, mismatch);
      found.push_back(std::move(mismatch));
    }
    return found;
  }

 private:
  bool Has(std::size_t at, std::size_t member) const { return group_.row(at, member) != kNone; }
  // Where at least half of the members have it, the others should.
  bool Agreed(std::size_t at) const { return 2 * count_[at] >= group_.members.size(); }
  const RankSummary& Summary(std::size_t member) const {
    return job_.ranks[group_.members[member].summary];
  }

  // Operations [from, to), none of which all members have.
  void LookAt(std::size_t from, std::size_t to) {
    for (std::size_t member = 0; member < group_.members.size(); ++member) {
      if (first_[member] > last_[member]) continue;  // it fits nowhere
      for (std::size_t at = from; at < to; ++at) {
        if (Has(at, member) || !Agreed(at)) continue;
        if (const std::size_t own = OwnInstead(at, member, from, to); own != to) {
          // Of two that disagree the later rank is named.
          if (count_[own] * 2 < group_.members.size() || member > 0) {
            const bool same_function =
                axis_.operations()[own].function == axis_.operations()[at].function;
            Add(member,
                same_function ? Mismatch::Kind::kOtherSize : Mismatch::Kind::kOtherOperation, at);
          }
        } else if (at > first_[member] && at < last_[member]) {
          Add(member, Mismatch::Kind::kLacks, at);
        } else if (at > last_[member] && WasRecording(member, at)) {
          Add(member, Mismatch::Kind::kEndsBefore, at);
        }
      }
    }
  }
  // What the member issued at the time of an operation, `to` if nothing.
  std::size_t OwnInstead(std::size_t at, std::size_t member, std::size_t from,
                         std::size_t to) const {
    for (std::size_t own = from; own < to; ++own) {
      if (own == at || !Has(own, member) || (Agreed(own) && group_.members.size() > 2)) continue;
      const SequencedOperation &a = axis_.operations()[at], &b = axis_.operations()[own];
      const TimeNs both = std::min(a.end, b.end) - std::max(a.start, b.start);
      const bool same_number =
          a.sequence >= 0 && a.sequence == b.sequence && a.function == b.function;
      if (a.kind != b.kind &&
          (same_number || both * 2 > std::min(a.end - a.start, b.end - b.start)))
        return own;
    }
    return to;
  }
  // Whether its recording reaches beyond what the others did, or was cut off with the process.
  bool WasRecording(std::size_t member, std::size_t at) const {
    const RankSummary& summary = Summary(member);
    return !summary.closed ||
           summary.end - axis_.LastDifference(order_[member]) >= axis_.operations()[at].end;
  }

  void Add(std::size_t member, Mismatch::Kind kind, std::size_t at) {
    Mismatch& mismatch = found_[{member, kind}];
    if (mismatch.operations++ > 0) return;
    const SequencedOperation& operation = axis_.operations()[at];
    mismatch.kind = kind;
    mismatch.rank = Summary(member).rank;
    mismatch.hash = group_.hash;
    mismatch.life = group_.life;
    mismatch.function = kinds_[operation.kind].function;
    mismatch.bytes = kinds_[operation.kind].bytes;
    mismatch.sequence = operation.sequence;
  }

  std::string Sentence(std::size_t member, const Mismatch& one) const {
    const std::string on = group_.name.empty()
                               ? fmt::format("a communicator of {}", group_.size)
                               : fmt::format("{} (of {} ranks)", group_.name, group_.size);
    std::string what = one.function;
    if (one.bytes >= 0) what += fmt::format(" of {} bytes", one.bytes);
    if (one.sequence >= 0) what += fmt::format(" (number {})", one.sequence);
    const std::string times =
        one.operations == 1 ? std::string() : fmt::format(" {} times, first", one.operations);
    switch (one.kind) {
      case Mismatch::Kind::kOtherOperation:
        return fmt::format(
            "On {} rank {} issued{} a different operation where the others issued {}.", on,
            one.rank, times, what);
      case Mismatch::Kind::kOtherSize:
        return fmt::format("On {} rank {} passed{} a different size where the others issued {}.",
                           on, one.rank, times, what);
      case Mismatch::Kind::kLacks:
        return fmt::format(
            "On {} rank {} has no record of {} {} that the others have, the first {}{}.", on,
            one.rank, one.operations, one.operations == 1 ? "operation" : "operations", what,
            Summary(member).dropped > 0 ? "; it lost records" : "");
      case Mismatch::Kind::kEndsBefore:
        return fmt::format("On {} rank {} ends {} {} before the others, which continued with {}.",
                           on, one.rank, one.operations,
                           one.operations == 1 ? "operation" : "operations", what);
    }
    return {};
  }

  const Job& job_;
  const MatchedGroup& group_;
  const OperationAxis& axis_;
  std::span<const std::size_t> order_;
  std::span<const OperationKind> kinds_;
  std::vector<std::size_t> first_, last_;  // per member, of what another has too
  std::vector<std::size_t> count_;         // per operation, the members that have it
  std::map<std::pair<std::size_t, Mismatch::Kind>, Mismatch> found_;
};

}  // namespace

std::vector<Mismatch> FindMismatches(const Job& job, const MatchedGroup& group,
                                     const OperationAxis& axis, std::span<const std::size_t> order,
                                     std::span<const OperationKind> kinds) {
  return MismatchFinder(job, group, axis, order, kinds).Find();
}

}  // namespace traceinject
