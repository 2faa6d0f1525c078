// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/gaps.h"

#include <algorithm>
#include <limits>

#include "analyzer/metrics/idle/launch_latency.h"

namespace traceinject {
namespace {

bool LongerFirst(const Gap& a, const Gap& b) {
  if (a.length_ns() != b.length_ns()) return a.length_ns() > b.length_ns();
  return a.time.start < b.time.start;
}

Gap Classify(const GpuOps& ops, const ApiCalls& api, TimeNs usual_latency_ns, Interval time,
             std::uint32_t op) {
  Gap gap;
  gap.time = time;
  gap.op = op;
  if (op != kNone) gap.launch = ops.launch[op];
  if (gap.launch == kNone) return gap;
  const TimeNs launched = std::clamp(api.start[gap.launch], time.start, time.end);
  if (launched == time.start &&
      !WasOnItsWay(ops, op, gap.length_ns(), ops.start[op] - api.start[gap.launch],
                   usual_latency_ns)) {
    gap.cause = GapCause::kQueued;
    return gap;
  }
  gap.host_late_ns = launched - time.start;
  gap.launch_latency_ns = time.end - launched;
  gap.cause =
      gap.host_late_ns >= gap.launch_latency_ns ? GapCause::kHostLate : GapCause::kLaunchLatency;
  return gap;
}

class Collector {
 public:
  explicit Collector(std::size_t keep) : keep_(keep), least_ns_(keep == 0 ? kOpen : 0) {}

  void Add(const Gap& gap) {
    ++found_.causes.gap_count;
    found_.causes.host_late_ns += gap.host_late_ns;
    found_.causes.launch_latency_ns += gap.launch_latency_ns;
    if (gap.cause == GapCause::kQueued) found_.causes.queued_ns += gap.length_ns();
    if (gap.cause == GapCause::kUnknown) found_.causes.unknown_ns += gap.length_ns();
    if (gap.length_ns() >= least_ns_) Keep(gap);
  }

  Gaps Finish() {
    std::sort(found_.longest.begin(), found_.longest.end(), LongerFirst);
    return std::move(found_);
  }

 private:
  // A heap whose front is the shortest of the gaps kept so far.
  void Keep(const Gap& gap) {
    std::vector<Gap>& heap = found_.longest;
    if (heap.size() == keep_) {
      if (!LongerFirst(gap, heap.front())) return;
      std::pop_heap(heap.begin(), heap.end(), LongerFirst);
      heap.pop_back();
    }
    heap.push_back(gap);
    std::push_heap(heap.begin(), heap.end(), LongerFirst);
    if (heap.size() == keep_) least_ns_ = heap.front().length_ns();
  }

  std::size_t keep_;
  TimeNs least_ns_;  // shorter gaps are not kept
  Gaps found_;
};

}  // namespace

IdleCauses& IdleCauses::operator+=(const IdleCauses& other) {
  gap_count += other.gap_count;
  host_late_ns += other.host_late_ns;
  launch_latency_ns += other.launch_latency_ns;
  queued_ns += other.queued_ns;
  unknown_ns += other.unknown_ns;
  return *this;
}

Gaps FindGaps(const GpuOps& ops, const ApiCalls& api, const Intervals& windows, std::size_t keep) {
  Collector collector(keep);
  const TimeNs usual_latency_ns = UsualLatency(api, ops);
  const auto add = [&](Interval time, std::uint32_t op) {
    collector.Add(Classify(ops, api, usual_latency_ns, time, op));
  };
  TimeNs busy_until = std::numeric_limits<TimeNs>::min();
  auto lost = ops.unrecorded.begin();
  // What ended an earlier gap than the operation did is not known.
  const auto pass_unrecorded = [&](TimeNs until) {
    for (; lost != ops.unrecorded.end() && lost->start < until; ++lost) {
      if (lost->start > busy_until) add({busy_until, lost->start}, kNone);
      busy_until = std::max(busy_until, lost->end);
    }
  };
  std::uint32_t row = 0;
  for (const Interval& window : windows) {
    busy_until = std::max(busy_until, window.start);
    for (; row < ops.size() && ops.start[row] < window.end; ++row) {
      pass_unrecorded(ops.start[row]);
      if (ops.start[row] > busy_until) add({busy_until, ops.start[row]}, row);
      busy_until = std::max(busy_until, ops.end[row]);
    }
    pass_unrecorded(window.end);
    // The operation that ends it comes after the window.
    if (busy_until < window.end) add({busy_until, window.end}, row < ops.size() ? row : kNone);
  }
  return collector.Finish();
}

}  // namespace traceinject
