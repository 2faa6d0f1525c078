// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/measure_operation.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "analyzer/metrics/links/collectives.h"

namespace traceinject {
namespace {

// The largest two of what was added, and who had the largest.
struct Largest {
  TimeNs first = std::numeric_limits<TimeNs>::min(), second = first;
  std::uint32_t member = kNone;

  void Add(TimeNs value, std::size_t of) {
    if (member == kNone || value > first) {
      second = std::exchange(first, value);
      member = static_cast<std::uint32_t>(of);
    } else {
      second = std::max(second, value);
    }
  }
};

OperationWaits Measure(const Job& job, const MatchedGroup& group, const ClockAlignment& clocks,
                       std::size_t at) {
  OperationWaits waits;
  if (!group.pair && !WaitsForAllRanks(KindOf(job, group, at).function)) return waits;
  waits.measured = true;
  Largest shortness, start;  // the shortest kernel is that of the last to begin
  TimeNs first_end = kOpen;
  bool aligned = true;
  std::size_t recorded = 0;
  for (std::size_t member = 0; member < group.members.size(); ++member) {
    const std::uint32_t row = group.row(at, member);
    if (row == kNone) continue;
    ++recorded;
    const auto [summary, own] = group.members[member];
    const GroupOperations& operations = job.ranks[summary].groups[own];
    const ClockFit& fit = clocks.ranks[summary];
    aligned &= fit.aligned;
    shortness.Add(operations.start[row] - operations.end[row], member);
    start.Add(ToJob(fit, operations.start[row]), member);
    first_end = std::min(first_end, ToJob(fit, operations.end[row]));
  }
  const auto expected = static_cast<std::size_t>(group.pair ? 2 : std::max(group.size, 0));
  waits.incomplete = recorded < std::max(expected, group.members.size());
  waits.shortest_ns = waits.transfer_ns = -shortness.first;
  if (aligned) {
    waits.after_last_ns = first_end - start.first;
    // A Send may end before its Recv begins.
    waits.disagrees = !group.pair && std::abs(waits.shortest_ns - waits.after_last_ns) >
                                         std::max(kMaxApartNs, waits.shortest_ns / 10);
  }
  waits.by_length = !aligned || waits.disagrees;
  const Largest& largest = waits.by_length ? shortness : start;
  waits.last = largest.member;
  waits.late_ns = largest.first - largest.second;
  if (waits.by_length) return waits;
  waits.last_start = start.first;
  if (waits.after_last_ns > 0) waits.transfer_ns = std::min(waits.shortest_ns, waits.after_last_ns);
  return waits;
}

std::uint32_t KindNumber(const Job& job, const MatchedGroup& group, std::size_t at,
                         std::map<std::pair<std::string, std::int64_t>, std::uint32_t>& numbers) {
  const OperationKind& kind = KindOf(job, group, at);
  return numbers
      .try_emplace({kind.function, kind.bytes}, static_cast<std::uint32_t>(numbers.size()))
      .first->second;
}

// The member without a record may have been the last. If the transfer seems much longer than
// usual, it was: then the usual transfer is nearer to the truth, and who was last is not known.
void BoundIncomplete(const Job& job, const MatchedGroup& group,
                     std::vector<OperationWaits>& operations) {
  const bool any = std::any_of(operations.begin(), operations.end(),
                               [](const OperationWaits& one) { return one.incomplete; });
  if (!any || group.pair) return;
  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> numbers;
  std::vector<std::vector<TimeNs>> transfers;
  std::vector<std::uint32_t> kind(operations.size());
  for (std::size_t at = 0; at < operations.size(); ++at) {
    if (!operations[at].measured) continue;
    kind[at] = KindNumber(job, group, at, numbers);
    transfers.resize(numbers.size());
    if (!operations[at].incomplete) transfers[kind[at]].push_back(operations[at].transfer_ns);
  }
  for (std::vector<TimeNs>& of_kind : transfers) {
    if (of_kind.empty()) continue;
    const auto middle = of_kind.begin() + static_cast<std::ptrdiff_t>(of_kind.size() / 2);
    std::nth_element(of_kind.begin(), middle, of_kind.end());
    of_kind = {*middle};
  }
  for (std::size_t at = 0; at < operations.size(); ++at) {
    OperationWaits& one = operations[at];
    if (!one.measured || !one.incomplete || transfers[kind[at]].empty()) continue;
    const TimeNs usual = transfers[kind[at]][0];
    if (one.transfer_ns <= usual + std::max(kMaxApartNs, usual / 5)) continue;
    one.transfer_ns = usual;
    one.by_length = true;
    one.last = kNone;
    one.last_start = one.late_ns = 0;
  }
}

}  // namespace

std::vector<OperationWaits> MeasureOperations(const Job& job, const MatchedGroup& group,
                                              const ClockAlignment& clocks) {
  std::vector<OperationWaits> operations;
  operations.reserve(group.operations);
  for (std::size_t at = 0; at < group.operations; ++at)
    operations.push_back(Measure(job, group, clocks, at));
  BoundIncomplete(job, group, operations);
  return operations;
}

}  // namespace traceinject
