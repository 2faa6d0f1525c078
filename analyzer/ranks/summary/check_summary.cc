// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/check_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace traceinject {
namespace {

constexpr std::int64_t kMaxBaseNs = std::int64_t{1} << 62;  // in the year 2116

bool IsTime(TimeNs time) { return time > -kMaxTimeNs && time < kMaxTimeNs; }
bool IsLength(TimeNs length) { return length >= 0 && length < 2 * kMaxTimeNs; }
bool IsInterval(Interval time) {
  return IsTime(time.start) && IsTime(time.end) && time.end >= time.start;
}
bool IsCount(std::int64_t count, std::int64_t least = 0) { return count >= least; }
bool IsNumber(int number, int least, int beyond = kMaxRanks) {
  return number >= least && number < beyond;
}
bool IsRate(double gb_per_s) { return gb_per_s >= 0 && std::isfinite(gb_per_s); }
// One clock that goes twice as fast as another is none.
bool IsDrift(double drift) { return std::abs(drift) < 1; }
bool IsShare(double share) { return share == -1 || (share >= 0 && share <= 1.000001); }

Error Wrong(std::string_view what) { return Error{fmt::format("invalid value: {}", what)}; }

Status CheckSteps(const std::vector<StepFacts>& steps) {
  TimeNs before = -kMaxTimeNs;
  for (const StepFacts& step : steps) {
    if (!IsInterval(step.time) || step.time.start < before) return Wrong("the times of its steps");
    before = step.time.end;
    TimeNs rest = step.time.end - step.time.start;
    const auto take = [&rest](TimeNs part) {
      if (part < 0 || part > rest) return false;
      rest -= part;
      return true;
    };
    bool fits = take(step.compute_ns) && take(step.exposed_communication_ns) &&
                take(step.exposed_copy_ns) && take(step.unrecorded_ns);
    for (const TimeNs idle : step.idle_ns) fits = fits && take(idle);
    if (!fits || rest != 0) return Error{"the parts of a step do not add up to its length"};
    if (!IsCount(step.kernels)) return Wrong("the kernels of a step");
  }
  return Done{};
}

Status CheckColumns(const GroupOperations& group) {
  const std::size_t rows = group.count();
  for (const std::size_t size :
       {group.end.size(), group.launch.size(), group.exposed_ns.size(), group.blocked_ns.size(),
        group.kind.size(), group.peer.size(), group.sequence.size(), group.step.size()}) {
    if (size != rows) return Error{"columns of a communicator have different lengths"};
  }
  if (rows > kMaxRows) return Wrong("the number of operations");
  return Done{};
}

Status CheckGroup(const RankSummary& summary, const GroupOperations& group) {
  if (!IsNumber(group.life, 0) || !IsNumber(group.size, 0) || !IsNumber(group.rank, -1) ||
      !IsNumber(group.nodes, -1) || (group.size > 0 && group.rank >= group.size))
    return Wrong("a communicator's size and rank");
  if (!IsRate(group.network_gb_per_s)) return Wrong("the rate of the network");
  if (Status columns = CheckColumns(group); !columns.ok()) return columns;
  for (std::size_t i = 0; i < group.count(); ++i) {
    const Interval time{group.start[i], group.end[i]};
    if (!IsInterval(time) || (group.launch[i] != kOpen && !IsTime(group.launch[i])))
      return Wrong("the times of an operation");
    if (group.exposed_ns[i] < 0 || group.exposed_ns[i] > time.end - time.start ||
        group.blocked_ns[i] < 0 || group.blocked_ns[i] > group.exposed_ns[i])
      return Wrong("the exposed time of an operation");
    if (group.kind[i] >= summary.kinds.size()) return Wrong("the kind of an operation");
    if (group.step[i] != kNone && group.step[i] >= summary.steps.size())
      return Wrong("the step of an operation");
    if (!IsNumber(group.peer[i], -1) || !IsCount(group.sequence[i], -1))
      return Wrong("the peer or the number of an operation");
  }
  return Done{};
}

Status CheckWork(const RankSummary& summary) {
  const WorkOperations& work = summary.work;
  const std::size_t rows = work.count();
  for (const std::size_t size :
       {work.end.size(), work.kind.size(), work.micro_batch.size(), work.step.size()}) {
    if (size != rows) return Error{"columns of its work have different lengths"};
  }
  if (rows > kMaxRows) return Wrong("the number of its operations");
  TimeNs before = -kMaxTimeNs;
  for (std::size_t i = 0; i < rows; ++i) {
    if (!IsInterval({work.start[i], work.end[i]}) || work.start[i] < before)
      return Wrong("the times of its work");
    before = work.end[i];
    if (work.kind[i] >= summary.work_kinds.size()) return Wrong("the kind of its work");
    if (!IsNumber(work.micro_batch[i], -1)) return Wrong("the micro-batch of its work");
    if (work.step[i] != kNone && work.step[i] >= summary.steps.size())
      return Wrong("the step of its work");
  }
  return Done{};
}

bool AreLines(const std::vector<LineFacts>& lines, std::size_t most) {
  return lines.size() <= most && std::all_of(lines.begin(), lines.end(), [](const LineFacts& line) {
           return IsLength(line.ns);
         });
}

Status CheckKernels(const std::vector<KernelFacts>& kernels) {
  if (kernels.size() > kMaxKernelFacts) return Wrong("the number of kernels");
  std::size_t shapes = 0;
  for (const KernelFacts& kernel : kernels) {
    if (!IsCount(kernel.count) || !IsLength(kernel.total_ns) || !IsLength(kernel.median_ns) ||
        !IsCount(kernel.blocks))
      return Wrong("the figures of a kernel");
    shapes += kernel.shapes.size();
    for (const ShapeFacts& shape : kernel.shapes) {
      if (!IsCount(shape.count) || !IsLength(shape.total_ns) || !AreLines(shape.lines, kMaxLines))
        return Wrong("the figures of the shape of a kernel");
    }
  }
  if (shapes > kMaxShapeFacts) return Wrong("the number of shapes");
  return Done{};
}

}  // namespace

Status CheckSummary(const RankSummary& summary) {
  if (!IsNumber(summary.rank, -1) || !IsNumber(summary.world_size, 0) ||
      !IsNumber(summary.local_rank, -1) || !IsNumber(summary.device, 0) ||
      !IsNumber(summary.stage, -1))
    return Wrong("its rank");
  if (!IsTime(summary.start) || !IsTime(summary.end)) return Wrong("the time of the recording");
  if (!IsTime(summary.clock_shift) || !IsDrift(summary.clock_drift))
    return Wrong("how its clock was aligned");
  if (!IsCount(summary.dropped)) return Wrong("the number of lost records");
  if (Status steps = CheckSteps(summary.steps); !steps.ok()) return steps;
  for (const OperationKind& kind : summary.kinds) {
    if (!IsCount(kind.bytes, -1)) return Wrong("the size of an operation");
  }
  for (const GroupOperations& group : summary.groups) {
    if (Status checked = CheckGroup(summary, group); !checked.ok()) return checked;
  }
  if (Status work = CheckWork(summary); !work.ok()) return work;
  if (Status kernels = CheckKernels(summary.kernels); !kernels.ok()) return kernels;
  if (!AreLines(summary.host_lines, kMaxHostLines) ||
      !AreLines(summary.worker_lines, kMaxHostLines))
    return Wrong("the lines of the program");
  for (const HungFacts& hung : summary.hung) {
    if (!IsTime(hung.since) || !IsCount(hung.bytes, -1) || !IsCount(hung.sequence, -1))
      return Wrong("an operation that hung");
  }
  const double clock = summary.busy_sm_clock_mhz;
  if (!(clock == -1 || (clock >= 0 && std::isfinite(clock))) || !IsShare(summary.throttled_share))
    return Wrong("the clock of the GPU");
  if (!IsRate(summary.nvlink_gb_per_s) || !IsRate(summary.host_link_gb_per_s))
    return Wrong("the rate of a link");
  if (!(summary.lost_beside_communication >= 0 && summary.lost_beside_communication <= 1) ||
      !IsLength(summary.host_step_ns) || !IsLength(summary.recording_step_ns))
    return Wrong("what its communication or its host takes");
  return Done{};
}

Status CheckJob(const Job& job) {
  const std::string path = job.ranks.empty() ? "" : job.ranks.front().path + ": ";
  if (job.base_ns < 0 || job.base_ns >= kMaxBaseNs)
    return Error{path + "invalid value: the date of the recording"};
  for (const RankSummary& rank : job.ranks) {
    if (const Status checked = CheckSummary(rank); !checked.ok())
      return Error{fmt::format("{}: {}", rank.path, checked.error())};
  }
  return Done{};
}

}  // namespace traceinject
