// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/partition.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <vector>

#include "analyzer/common/remainders.h"

namespace traceinject {
namespace {

enum Lane : std::size_t { kCompute, kCommunication, kCopy, kUnrecorded, kLaneCount };

Lane LaneOf(OpKind kind, KernelClass kernel_class) {
  if (kernel_class == KernelClass::kComm) return kCommunication;  // NCCL also copies
  return kind == OpKind::kKernel ? kCompute : kCopy;
}

// Walks forward in time and books every stretch under the set of lanes that were active in it.
// Since operations come sorted by start, one end a lane is all the state that merging needs.
class Sweep {
 public:
  explicit Sweep(Interval window) : now_(window.start) { ends_.fill(window.start); }

  void AdvanceTo(TimeNs time) {
    while (now_ < time) {
      const TimeNs next = std::min(time, first_end_);
      booked_[active_] += next - now_;
      now_ = next;
      if (next == first_end_) EndFirst();
    }
  }
  void Occupy(Lane lane, TimeNs end) {
    if (end <= ends_[lane]) return;
    const bool was_first = ends_[lane] == first_end_;
    ends_[lane] = end;
    if (was_first) return FindActive();
    if (end <= now_) return;
    active_ |= std::size_t{1} << lane;
    first_end_ = std::min(first_end_, end);
  }
  // Whether an operation that starts then only goes on with what its lane does, so that nothing
  // need be booked before.
  bool GoesOn(Lane lane, TimeNs start) const { return ends_[lane] >= start; }
  // Books the operations from `row` on that begin before `until` and are of this lane, while no
  // other is active, as nearly always: what is known of them is kept in registers, and no branch
  // depends on how they lie. Returns the first that is left. `lane_of(row)`: of an operation.
  template <typename LaneOf>
  std::size_t OccupyAlone(const GpuOps& ops, std::size_t row, TimeNs until, Lane lane,
                          LaneOf lane_of) {
    const std::size_t alone = std::size_t{1} << lane;
    if ((active_ & ~alone) != 0) return row;
    TimeNs now = now_, end = ends_[lane], busy = 0;
    const std::size_t size = ops.size();
    for (; row < size && ops.start[row] < until && lane_of(row) == lane; ++row) {
      const TimeNs start = std::max(ops.start[row], now);
      busy += std::max(now, std::min(end, start)) - now;
      now = start;
      end = std::max(end, ops.end[row]);
    }
    booked_[alone] += busy;
    booked_[0] += now - now_ - busy;
    now_ = now;
    ends_[lane] = end;
    const bool goes_on = end > now;
    active_ = goes_on ? alone : 0;
    first_end_ = goes_on ? end : kOpen;
    return row;
  }

  // Starts the books anew; what runs goes on running.
  void Reset() { booked_.fill(0); }

  // Time in which, of the lanes in `mask`, exactly those in `active` were.
  TimeNs Booked(std::size_t mask, std::size_t active) const {
    TimeNs total = 0;
    for (std::size_t set = 0; set < booked_.size(); ++set) {
      if ((set & mask) == active) total += booked_[set];
    }
    return total;
  }

 private:
  // What ends first has ended: as a rule nothing else was going on.
  void EndFirst() {
    if (!std::has_single_bit(active_)) return FindActive();
    active_ = 0;
    first_end_ = kOpen;
  }
  void FindActive() {
    active_ = 0;
    first_end_ = kOpen;
    for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
      if (ends_[lane] <= now_) continue;
      active_ |= std::size_t{1} << lane;
      first_end_ = std::min(first_end_, ends_[lane]);
    }
  }

  TimeNs now_;
  std::array<TimeNs, kLaneCount> ends_;
  std::size_t active_ = 0;    // lanes
  TimeNs first_end_ = kOpen;  // of those
  std::array<TimeNs, std::size_t{1} << kLaneCount> booked_{};
};

Partition PartitionFrom(const Sweep& sweep, TimeNs wall_ns) {
  constexpr std::size_t kC = 1U << kCompute, kN = 1U << kCommunication, kM = 1U << kCopy,
                        kU = 1U << kUnrecorded;
  Partition partition;
  partition.wall_ns = wall_ns;
  partition.compute_ns = sweep.Booked(kC, kC);
  partition.exposed_communication_ns = sweep.Booked(kC | kN | kU, kN);
  partition.exposed_copy_ns = sweep.Booked(kC | kN | kM | kU, kM);
  partition.idle_ns = sweep.Booked(kC | kN | kM | kU, 0);
  partition.unrecorded_ns = sweep.Booked(kC | kU, kU);
  partition.communication_ns = sweep.Booked(kN, kN);
  partition.overlapped_communication_ns = sweep.Booked(kC | kN, kC | kN);
  partition.copy_ns = sweep.Booked(kM, kM);
  assert(partition.compute_ns + partition.exposed_communication_ns + partition.exposed_copy_ns +
             partition.idle_ns + partition.unrecorded_ns ==
         partition.wall_ns);
  return partition;
}

double Ratio(TimeNs part, TimeNs whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<double> Partition::communication_to_compute() const {
  if (compute_ns == 0) return std::nullopt;
  return Ratio(communication_ns, compute_ns);
}

std::optional<double> Partition::overlap_share() const {
  if (communication_ns == 0) return std::nullopt;
  return Ratio(overlapped_communication_ns, communication_ns);
}

double Partition::share(TimeNs part_ns) const {
  return wall_ns == 0 ? 0.0 : Ratio(part_ns, wall_ns);
}

Partition& Partition::operator+=(const Partition& other) {
  wall_ns += other.wall_ns;
  compute_ns += other.compute_ns;
  exposed_communication_ns += other.exposed_communication_ns;
  exposed_copy_ns += other.exposed_copy_ns;
  idle_ns += other.idle_ns;
  unrecorded_ns += other.unrecorded_ns;
  communication_ns += other.communication_ns;
  overlapped_communication_ns += other.overlapped_communication_ns;
  copy_ns += other.copy_ns;
  return *this;
}

std::vector<Partition> PartitionBetween(const GpuOps& ops, const std::vector<TimeNs>& cuts) {
  std::vector<Partition> partitions;
  if (cuts.size() < 2) return partitions;
  partitions.reserve(cuts.size() - 1);
  Sweep sweep({cuts.front(), cuts.back()});
  auto cut = cuts.begin() + 1;  // the next
  const auto pass_cuts = [&](TimeNs time) {
    for (; cut != cuts.end() && *cut <= time; ++cut) {
      sweep.AdvanceTo(*cut);
      partitions.push_back(PartitionFrom(sweep, *cut - *(cut - 1)));
      sweep.Reset();
    }
  };
  const auto advance_to = [&](TimeNs time) {
    if (cut != cuts.end() && *cut <= time) pass_cuts(time);
    sweep.AdvanceTo(std::min(time, cuts.back()));
  };
  auto lost = ops.unrecorded.begin();
  const auto lose_until = [&](TimeNs time) {
    for (; lost != ops.unrecorded.end() && lost->start < time; ++lost) {
      if (lost->end <= cuts.front()) continue;
      advance_to(std::max(lost->start, cuts.front()));
      sweep.Occupy(kUnrecorded, std::min(lost->end, cuts.back()));
    }
  };
  const auto lane_of = [&ops](std::size_t row) {
    return LaneOf(ops.kind[row], ops.kernel_class[row]);
  };
  for (std::size_t row = 0; row < ops.size() && ops.start[row] < cuts.back(); ++row) {
    const TimeNs next_lost = lost != ops.unrecorded.end() ? lost->start : kOpen;
    row = sweep.OccupyAlone(ops, row, std::min(*cut, next_lost), lane_of(row), lane_of);
    if (row == ops.size() || ops.start[row] >= cuts.back()) break;
    if (ops.end[row] <= cuts.front()) continue;
    lose_until(ops.start[row]);
    const Lane lane = lane_of(row);
    if (!sweep.GoesOn(lane, ops.start[row])) advance_to(ops.start[row]);
    sweep.Occupy(lane, std::min(ops.end[row], cuts.back()));
  }
  lose_until(cuts.back());
  advance_to(cuts.back());
  return partitions;
}

Partition PartitionOf(const GpuOps& ops, Interval window) {
  return PartitionBetween(ops, {window.start, window.end}).front();
}

std::array<double, 5> RoundedPercentages(const Partition& partition) {
  const std::vector<std::int64_t> thousandths =
      LargestRemainders({partition.compute_ns, partition.exposed_communication_ns,
                         partition.exposed_copy_ns, partition.idle_ns, partition.unrecorded_ns},
                        100'000);
  std::array<double, 5> percentages{};
  for (std::size_t i = 0; i < percentages.size(); ++i)
    percentages[i] = static_cast<double>(thousandths[i]) / 1000.0;
  return percentages;
}

}  // namespace traceinject
