// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/list_collectives.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/ranks/match/rank_names.h"

namespace traceinject {
namespace {

// Figures of one matched operation.
struct Figures {
  std::size_t group = 0, operation = 0;
  TimeNs start = 0;  // on the clock of the rank that came first
  TimeNs longest = 0, shortest = kOpen;
  TimeNs exposed = 0;                  // mean
  std::size_t recorded = 0, last = 0;  // last: summary

  TimeNs skew() const { return longest - shortest; }
};

Figures FiguresOf(const Job& job, const MatchedGroup& group, std::size_t index,
                  std::size_t operation) {
  Figures one;
  one.group = index;
  one.operation = operation;
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const std::uint32_t row = group.row(operation, m);
    if (row == kNone) continue;
    const GroupMember& member = group.members[m];
    const GroupOperations& rows = job.ranks[member.summary].groups[member.group];
    const TimeNs length = rows.end[row] - rows.start[row];
    if (one.recorded == 0 || length > one.longest) {
      one.longest = length;
      one.start = rows.start[row];
    }
    if (length < one.shortest) {
      one.shortest = length;
      one.last = member.summary;
    }
    one.exposed += rows.exposed_ns[row];
    ++one.recorded;
  }
  if (one.recorded > 0) one.exposed /= static_cast<TimeNs>(one.recorded);
  return one;
}

// The operations that are first by some figure.
class Best {
 public:
  Best(std::size_t most, TimeNs (*figure)(const Figures&)) : most_(most), figure_(figure) {}

  void Offer(const Figures& one) {
    if (most_ == 0) return;
    const auto less = [&](const Figures& a, const Figures& b) { return figure_(a) > figure_(b); };
    if (heap_.size() == most_) {
      if (figure_(one) <= figure_(heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), less);
      heap_.pop_back();
    }
    heap_.push_back(one);
    std::push_heap(heap_.begin(), heap_.end(), less);
  }
  const std::vector<Figures>& found() const { return heap_; }

 private:
  std::size_t most_;
  TimeNs (*figure_)(const Figures&);
  std::vector<Figures> heap_;  // the least on top
};

void Write(const Job& job, const MatchedGroup& group, const Figures& one, proto::Collective& to) {
  const OperationKind& kind = KindOf(job, group, one.operation);
  to.set_function(kind.function);
  if (kind.bytes >= 0) to.set_bytes(kind.bytes);
  to.set_communicator(CommunicatorName(group));
  to.set_size(group.pair ? 2 : group.size);
  to.set_recorded(static_cast<int>(one.recorded));
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const std::uint32_t row = group.row(one.operation, m);
    if (row == kNone) continue;
    const GroupMember& member = group.members[m];
    const std::int64_t sequence = job.ranks[member.summary].groups[member.group].sequence[row];
    if (sequence >= 0) to.set_sequence(sequence);
    break;
  }
  to.set_start_ns(one.start);
  to.set_length_ns(one.longest);
  to.set_skew_ns(one.skew());
  to.set_transfer_ns(one.shortest);
  to.set_exposed_ns(one.exposed);
  to.set_last_row(static_cast<int>(one.last));
}

}  // namespace

void ListCollectives(const Job& job, const std::vector<MatchedGroup>& groups, std::size_t rows,
                     proto::Ranks& to) {
  Best lists[] = {{rows, [](const Figures& one) { return one.longest; }},
                  {rows, [](const Figures& one) { return one.exposed; }},
                  {rows, [](const Figures& one) { return one.skew(); }}};
  std::int64_t matched = 0, incomplete = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t op = 0; op < groups[g].operations; ++op) {
      const Figures one = FiguresOf(job, groups[g], g, op);
      ++matched;
      const int size = groups[g].pair ? 2 : groups[g].size;
      incomplete += static_cast<int>(one.recorded) < size ? 1 : 0;
      for (Best& list : lists) list.Offer(one);
    }
  }
  to.set_matched_operations(matched);
  to.set_incomplete_operations(incomplete);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  std::vector<Figures> chosen;
  for (const Best& list : lists) {
    for (const Figures& one : list.found()) {
      if (seen.emplace(one.group, one.operation).second) chosen.push_back(one);
    }
  }
  std::sort(chosen.begin(), chosen.end(), [](const Figures& a, const Figures& b) {
    return std::tie(a.start, a.group, a.operation) < std::tie(b.start, b.group, b.operation);
  });
  for (const Figures& one : chosen) Write(job, groups[one.group], one, *to.add_collectives());
}

}  // namespace traceinject
