// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/gap_causes.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/idle/host_load.h"
#include "analyzer/metrics/idle/launch_latency.h"
#include "analyzer/metrics/idle/merged_calls.h"

namespace traceinject {
namespace {

constexpr TimeNs kClockNs = 2'000;  // as in host_timeline.cc
constexpr TimeNs kShortestHostWaitNs = 2'000'000;
constexpr TimeNs kHostWaitStepShare = 20;  // a twentieth

// Hands the gaps of a device, from the first to the last, to `on_gap(Interval, row of the operation
// before it, row of the one that ended it)`, and each operation to `on_op(row)` before the gap that
// it ended. kNone: there is none, or it was not recorded.
template <typename OnOp, typename OnGap>
void WalkGaps(const GpuOps& ops, Interval window, OnOp on_op, OnGap on_gap) {
  TimeNs busy_until = window.start;
  std::uint32_t before = kNone;
  auto lost = ops.unrecorded.begin();
  const auto pass_unrecorded = [&](TimeNs until) {
    for (; lost != ops.unrecorded.end() && lost->start < until; ++lost) {
      if (lost->start > busy_until) on_gap({busy_until, lost->start}, before, kNone);
      busy_until = std::max(busy_until, lost->end);
    }
  };
  for (std::uint32_t row = 0; row < ops.size() && ops.start[row] < window.end; ++row) {
    on_op(row);
    pass_unrecorded(ops.start[row]);
    if (ops.start[row] > busy_until) on_gap({busy_until, ops.start[row]}, before, row);
    if (ops.end[row] > busy_until) {
      busy_until = ops.end[row];
      before = row;
    }
  }
  pass_unrecorded(window.end);
  if (busy_until < window.end) on_gap({busy_until, window.end}, before, kNone);
}

// Of a gap whose next operation was launched before it.
IdleCause InTimeCause(const Rank& rank, const GpuOps& ops, TimeNs usual_latency_ns, Interval gap,
                      std::uint32_t before, std::uint32_t row) {
  const auto communicates = [&](std::uint32_t op) {
    return op != kNone && ops.kernel_class[op] == KernelClass::kComm;
  };
  const auto copies = [&](std::uint32_t op) {
    return op != kNone && ops.kind[op] == OpKind::kMemcpy;
  };
  if (communicates(row)) return IdleCause::kCommunication;
  if (copies(row)) return IdleCause::kCopy;
  // Which stream it was matters for few only.
  if ((communicates(before) || copies(before)) && ops.stream[before] != ops.stream[row])
    return communicates(before) ? IdleCause::kCommunication : IdleCause::kCopy;
  const TimeNs since_launch_ns = ops.start[row] - rank.api.start[ops.launch[row]];
  return WasOnItsWay(ops, row, gap.end - gap.start, since_launch_ns, usual_latency_ns)
             ? IdleCause::kLaunch
             : IdleCause::kQueued;
}

// Walks over the gaps of a device, from the first to the last, and hands each piece that has one
// cause to `book(Interval, IdleCause, row of the operation that ended the gap)`.
template <typename Book>
class GapWalker {
 public:
  GapWalker(const Rank& rank, const GpuOps& ops, const HostTimeline& timeline,
            UnrecordedStretch unrecorded, Book book)
      : rank_(rank),
        ops_(ops),
        timeline_(timeline),
        calls_(rank.api, timeline.feeders),
        unrecorded_(unrecorded),
        book_(std::move(book)) {
    found_.usual_latency_ns = UsualLatency(rank.api, ops);
  }

  // The steps stay empty: they are the booker's.
  GapCauses Walk(Interval window) {
    WalkGaps(
        ops_, window, [this](std::uint32_t row) { CountLaunch(row); },
        [this](Interval gap, std::uint32_t before, std::uint32_t row) {
          ended_by_ = row;
          Gap(gap, before, row);
        });
    return std::move(found_);
  }

 private:
  void CountLaunch(std::uint32_t row) {
    if (ops_.launch[row] == kNone && rank_.CallIsBeyond(ops_.correlation[row])) return;
    ++found_.operations;
    if (ops_.launch[row] == kNone) return;
    ++found_.joined;
    if (rank_.api.start[ops_.launch[row]] > ops_.start[row] + kClockNs) ++found_.acausal;
  }

  void Put(Interval piece, IdleCause cause) { book_(piece, cause, ended_by_); }

  void Gap(Interval gap, std::uint32_t before, std::uint32_t row) {
    const std::uint32_t launch = row == kNone ? kNone : ops_.launch[row];
    if (launch == kNone || rank_.api.start[launch] > ops_.start[row] + kClockNs)
      return Put(gap, IdleCause::kUnknown);
    const TimeNs launched = std::min(rank_.api.start[launch], gap.end);
    if (launched <= gap.start)
      return Put(gap, InTimeCause(rank_, ops_, found_.usual_latency_ns, gap, before, row));
    const std::optional<IdleCause> drained = DrainedBy(gap.start, launched);
    Host({gap.start, launched}, drained);
    IdleCause latency = drained.value_or(IdleCause::kLaunch);
    if (IsPageableUpload(rank_, ops_, row)) latency = IdleCause::kCopy;
    Put({launched, gap.end}, latency);
  }

  // The wait for the device that was going on when it ran dry. Leaves segment_ at the first segment
  // that ends after the start of the gap.
  std::optional<IdleCause> DrainedBy(TimeNs start, TimeNs launched) {
    const std::vector<HostSegment>& segments = timeline_.segments;
    while (segment_ < segments.size() && segments[segment_].time.end < start - kClockNs) ++segment_;
    std::optional<IdleCause> cause;
    for (std::size_t i = segment_; i < segments.size() && segments[i].time.start <= start; ++i) {
      if (segments[i].time.end > launched) break;
      if (segments[i].cause == IdleCause::kSync) cause = IdleCause::kDrainedBySync;
      if (segments[i].cause == IdleCause::kAllocator || segments[i].cause == IdleCause::kCopy)
        cause = segments[i].cause;
      if (segments[i].cause == IdleCause::kCheckpoint) cause = segments[i].cause;
    }
    return cause;
  }

  // Host time of a gap: the segments in it, and the stretches between them.
  void Host(Interval time, std::optional<IdleCause> drained) {
    const std::vector<HostSegment>& segments = timeline_.segments;
    TimeNs now = time.start;
    for (std::size_t i = segment_; i < segments.size() && segments[i].time.start < time.end; ++i) {
      const Interval inside{std::max(segments[i].time.start, now),
                            std::min(segments[i].time.end, time.end)};
      if (inside.end <= inside.start) continue;
      if (inside.start > now) Stretch({now, inside.start}, drained);
      Put(inside, segments[i].cause);
      now = inside.end;
    }
    if (now < time.end) Stretch({now, time.end}, drained);
  }

  // A stretch without segments: calls, and the time between them.
  void Stretch(Interval time, std::optional<IdleCause> drained) {
    calls_.PassUntil(time.start);
    TimeNs now = time.start;
    std::size_t next = 0;  // the first call that ends after that
    for (const Interval* call = calls_.At(0); call != nullptr && call->start < time.end;
         call = calls_.At(++next)) {
      const Interval inside{std::max(call->start, now), std::min(call->end, time.end)};
      if (inside.end <= inside.start) continue;
      if (inside.start > now) Between({now, inside.start}, next, drained);
      BookHost(inside, drained.value_or(IdleCause::kLaunch));
      now = inside.end;
    }
    if (now < time.end) Between({now, time.end}, next, drained);
  }

  // next: the first call after it, as calls_ counts.
  void Between(Interval time, std::size_t next, std::optional<IdleCause> drained) {
    const TimeNs ended = calls_.EndBefore(next);
    const TimeNs since =
        ended != std::numeric_limits<TimeNs>::min() ? std::min(ended, time.start) : time.start;
    // What was explained, such as a wait for data, is no part of an unexplained stretch.
    const TimeNs from = std::max(since, LastSegmentEnd(time.start));
    const bool waited = drained == IdleCause::kDrainedBySync;
    if (time.end - from >= (waited ? unrecorded_.after_wait_ns : unrecorded_.at_least_ns))
      return BookHost(time, unrecorded_.cause_of(time));
    BookHost(time, drained.value_or(IdleCause::kPython));
  }

  TimeNs LastSegmentEnd(TimeNs time) const {
    const std::vector<HostSegment>& segments = timeline_.segments;
    const auto at =
        std::upper_bound(segments.begin(), segments.end(), time,
                         [](TimeNs t, const HostSegment& segment) { return t < segment.time.end; });
    return at == segments.begin() ? std::numeric_limits<TimeNs>::min() : (at - 1)->time.end;
  }

  void BookHost(Interval time, IdleCause cause) {
    Put(time, cause);
    if (cause == IdleCause::kLaunch || cause == IdleCause::kPython) return;
    if (!found_.host.empty() && found_.host.back().time.end == time.start &&
        found_.host.back().cause == cause) {
      found_.host.back().time.end = time.end;
    } else {
      found_.host.push_back({time, cause});
    }
  }

  const Rank& rank_;
  const GpuOps& ops_;
  const HostTimeline& timeline_;
  MergedCalls calls_;
  const UnrecordedStretch unrecorded_;
  Book book_;
  GapCauses found_;
  std::uint32_t ended_by_ = kNone;
  std::size_t segment_ = 0;
};

}  // namespace

bool IsPageableUpload(const Rank& rank, const GpuOps& ops, std::uint32_t row) {
  if (ops.kind[row] != OpKind::kMemcpy) return false;
  const Transfer& transfer = rank.transfers[ops.detail[row]];
  return transfer.kind == kHostToDevice && transfer.src_kind == kPageable;
}

StepSplit& StepSplit::operator+=(const StepSplit& other) {
  partition += other.partition;
  for (std::size_t i = 0; i < idle_ns.size(); ++i) idle_ns[i] += other.idle_ns[i];
  return *this;
}

UnrecordedStretch UnrecordedStretchesOf(const Rank& rank, const HostTimeline& timeline,
                                        const Steps& steps) {
  const std::vector<TimeNs> cuts = steps.cuts();
  const Interval span{cuts.front(), cuts.back()};
  const double load = LoadOfFeeders(rank, timeline, span).value_or(0);
  const TimeNs at_least_ns = std::max(kShortestHostWaitNs, steps.median_ns / kHostWaitStepShare);
  const bool knows_more = rank.stack_samples.size() > 0;
  // Until the wait is over the device is busy, for the rest of the step.
  return {at_least_ns, knows_more ? std::max(at_least_ns, steps.median_ns / 2) : at_least_ns,
          load >= kComputingLoad ? span : Interval{}};
}

GapCauses SplitSteps(const Rank& rank, const Device& device, const HostTimeline& timeline,
                     const Steps& steps) {
  const std::vector<TimeNs> cuts = steps.cuts();
  std::vector<StepSplit> split(steps.steps.size());
  const std::vector<Partition> partitions = PartitionBetween(device.ops, cuts);
  for (std::size_t i = 0; i < partitions.size(); ++i) split[i].partition = partitions[i];
  std::size_t step = 0;
  // Adds the piece to the steps it lies in. Pieces come in order.
  const auto book = [&](Interval piece, IdleCause cause, std::uint32_t) {
    while (step + 1 < split.size() && cuts[step + 1] <= piece.start) ++step;
    for (std::size_t i = step; i < split.size() && cuts[i] < piece.end; ++i) {
      const TimeNs inside = std::min(piece.end, cuts[i + 1]) - std::max(piece.start, cuts[i]);
      if (inside > 0) split[i].idle_ns[static_cast<std::size_t>(cause)] += inside;
    }
  };
  GapCauses found =
      GapWalker(rank, device.ops, timeline, UnrecordedStretchesOf(rank, timeline, steps), book)
          .Walk({cuts.front(), cuts.back()});
  found.steps = std::move(split);
  return found;
}

std::vector<IdlePiece> ExplainIdle(const Rank& rank, const Device& device,
                                   const HostTimeline& timeline, const Steps& steps,
                                   Interval window) {
  std::vector<IdlePiece> pieces;
  const auto book = [&pieces](Interval time, IdleCause cause, std::uint32_t ended_by) {
    if (time.end <= time.start) return;
    const bool joins = !pieces.empty() && pieces.back().time.end == time.start &&
                       pieces.back().cause == cause && pieces.back().ended_by == ended_by;
    if (joins) {
      pieces.back().time.end = time.end;
    } else {
      pieces.push_back({time, cause, ended_by});
    }
  };
  GapWalker(rank, device.ops, timeline, UnrecordedStretchesOf(rank, timeline, steps), book)
      .Walk(window);
  return pieces;
}

TimeNs QueuedTime(const Rank& rank, const GpuOps& ops, TimeNs usual_latency_ns, Interval window,
                  TimeNs ahead_ns, const Intervals& within) {
  TimeNs queued_ns = 0;
  WalkGaps(
      ops, window, [](std::uint32_t) {},
      [&](Interval gap, std::uint32_t before, std::uint32_t row) {
        const std::uint32_t launch = row == kNone ? kNone : ops.launch[row];
        if (launch == kNone) return;
        const TimeNs launched = rank.api.start[launch];
        if (launched <= gap.start && gap.end - launched >= ahead_ns &&
            InTimeCause(rank, ops, usual_latency_ns, gap, before, row) == IdleCause::kQueued)
          queued_ns += LengthInside(within, gap);
      });
  return queued_ns;
}

}  // namespace traceinject
