// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/summarise_rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/metrics/cost/recorder_cost.h"
#include "analyzer/metrics/gpu/telemetry.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/idle/stalls.h"
#include "analyzer/metrics/links/collectives.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/ranks/summary/line_facts.h"
#include "analyzer/ranks/summary/lost_beside.h"
#include "analyzer/ranks/summary/shape_facts.h"

namespace traceinject {
namespace {

constexpr double kMaxBlocks = 1e18;  // a damaged file may say anything

bool Computes(const GpuOps& ops, std::size_t row) {
  return ops.kind[row] == OpKind::kKernel && ops.kernel_class[row] != KernelClass::kComm;
}

// Index into the steps of the one in which a time lies; kNone: none.
class StepOfTime {
 public:
  explicit StepOfTime(const Steps& steps) : cuts_(steps.cuts()) {}

  std::uint32_t operator()(TimeNs time) const {
    const auto after = std::upper_bound(cuts_.begin(), cuts_.end(), time);
    if (after == cuts_.begin() || after == cuts_.end()) return kNone;
    return static_cast<std::uint32_t>(after - cuts_.begin() - 1);
  }

 private:
  std::vector<TimeNs> cuts_;
};

std::vector<StepFacts> FactsOfSteps(const Rank& rank, const Device& device,
                                    const HostTimeline& timeline, const Steps& steps) {
  const GapCauses split = SplitSteps(rank, device, timeline, steps);
  std::vector<StepFacts> facts;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    const Partition& parts = split.steps[i].partition;
    StepFacts fact;
    fact.time = steps.steps[i].time;
    fact.regular = steps.steps[i].regular();
    fact.compute_ns = parts.compute_ns;
    fact.exposed_communication_ns = parts.exposed_communication_ns;
    fact.exposed_copy_ns = parts.exposed_copy_ns;
    fact.unrecorded_ns = parts.unrecorded_ns;
    fact.idle_ns = split.steps[i].idle_ns;
    facts.push_back(fact);
  }
  return facts;
}

TimeNs HostTimeOfStep(const HostTimeline& timeline, const std::vector<StepFacts>& steps) {
  TimeNs sum = 0;
  std::int64_t regular = 0;
  std::size_t next = 0;
  for (const StepFacts& step : steps) {
    if (!step.regular) continue;
    ++regular;
    sum += step.time.end - step.time.start;
    while (next < timeline.segments.size() && timeline.segments[next].time.end <= step.time.start)
      ++next;
    for (std::size_t i = next; i < timeline.segments.size(); ++i) {
      const HostSegment& segment = timeline.segments[i];
      if (segment.time.start >= step.time.end) break;
      if (segment.waits_for == kNone) continue;
      sum -=
          std::min(segment.time.end, step.time.end) - std::max(segment.time.start, step.time.start);
    }
  }
  return regular > 0 ? sum / regular : 0;
}

TimeNs RecordingOfStep(const Rank& rank, const GpuOps& ops, const std::vector<StepFacts>& steps,
                       const StepOfTime& step_of) {
  std::int64_t launches = 0;
  std::uint32_t last = kNone;  // what one call launches, a graph, lies together
  for (std::size_t row = 0; row < ops.size(); ++row) {
    const std::uint32_t launch = ops.launch[row];
    if (launch == kNone || launch == last) continue;
    last = launch;
    const std::uint32_t step = step_of(ops.start[row]);
    if (step != kNone && steps[step].regular) ++launches;
  }
  const std::int64_t regular = std::ranges::count_if(steps, &StepFacts::regular);
  if (launches == 0 || regular == 0) return 0;
  return static_cast<TimeNs>(RecorderCostOf(rank).launch_ns * static_cast<double>(launches) /
                             static_cast<double>(regular));
}

TimeNs TakeMedian(std::vector<TimeNs>& durations) {
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  if (durations.size() % 2 == 1) return *middle;
  const TimeNs below = *std::max_element(durations.begin(), middle);
  return below + (*middle - below) / 2;
}

// Fills in StepFacts::kernels, and returns what took most of the time of the regular steps.
std::vector<KernelFacts> CountKernels(const Rank& rank, const GpuOps& ops,
                                      std::vector<StepFacts>& steps, const StepOfTime& step_of) {
  struct Launches {
    std::vector<TimeNs> durations;
    double blocks = 0;
  };
  std::map<std::uint32_t, Launches> launches;  // by name
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (!Computes(ops, row)) continue;
    const std::uint32_t step = step_of(ops.start[row]);
    if (step == kNone) continue;
    ++steps[step].kernels;
    if (!steps[step].regular) continue;
    const KernelShape& shape = rank.shapes[ops.detail[row]];
    Launches& of_name = launches[shape.name];
    of_name.durations.push_back(ops.end[row] - ops.start[row]);
    of_name.blocks += static_cast<double>(shape.grid[0]) * shape.grid[1] * shape.grid[2];
  }
  std::vector<KernelFacts> kernels;
  for (auto& [name, of_name] : launches) {
    KernelFacts facts;
    facts.name = rank.string(name);
    facts.count = static_cast<std::int64_t>(of_name.durations.size());
    for (const TimeNs duration : of_name.durations) facts.total_ns += duration;
    facts.median_ns = TakeMedian(of_name.durations);
    facts.blocks = std::llround(
        std::clamp(of_name.blocks / static_cast<double>(facts.count), 0.0, kMaxBlocks));
    kernels.push_back(std::move(facts));
  }
  std::sort(kernels.begin(), kernels.end(), [](const KernelFacts& a, const KernelFacts& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  if (kernels.size() > kMaxKernelFacts) kernels.resize(kMaxKernelFacts);
  return kernels;
}

// A communicator of a process's rows stands for one on each of its devices where it does not report
// which it is on.
bool IsOn(const Communicator& communicator, const Device& device) {
  return communicator.device.value_or(device.ordinal) == device.ordinal;
}

// How often a communicator of the same hash was made on the device before.
int LifeOf(const Rank& rank, const Device& device, std::uint32_t index) {
  const Communicator& own = rank.communicators[index];
  int life = 0;
  for (std::uint32_t other = 0; other < rank.communicators.size(); ++other) {
    const Communicator& one = rank.communicators[other];
    if (one.hash == own.hash && one.rank == own.rank && IsOn(one, device) &&
        std::tie(one.created, other) < std::tie(own.created, index))
      ++life;
  }
  return life;
}

GroupOperations DescribeGroup(const Rank& rank, const Device& device, std::uint32_t index) {
  GroupOperations group;
  if (index == kNone) return group;
  const Communicator& communicator = rank.communicators[index];
  group.hash = communicator.hash;
  group.life = LifeOf(rank, device, index);
  group.size = communicator.size.value_or(0);
  group.rank = communicator.rank.value_or(-1);
  group.nodes = communicator.nodes.value_or(-1);
  group.name = communicator.name;
  group.way = SlowestWay(rank, {index});
  group.network_gb_per_s = NetworkRate(rank, index);
  return group;
}

class OperationCollector {
 public:
  OperationCollector(const Rank& rank, const Device& device, const StepOfTime& step_of)
      : rank_(rank), device_(device), step_of_(step_of) {}

  void Collect(RankSummary& to) {
    for (const NcclLaunch& launch : LinkNccl(rank_, device_).launches) Add(launch);
    to.kinds = std::move(kinds_);
    for (auto& [communicator, group] : groups_) to.groups.push_back(std::move(group));
    std::stable_sort(to.groups.begin(), to.groups.end(),
                     [](const GroupOperations& a, const GroupOperations& b) {
                       return std::tie(a.hash, a.life) < std::tie(b.hash, b.life);
                     });
  }

 private:
  void Add(const NcclLaunch& launch) {
    const std::uint32_t index =
        launch.communicator < rank_.communicators.size() ? launch.communicator : kNone;
    auto known = groups_.find(index);
    if (known == groups_.end())
      known = groups_.emplace(index, DescribeGroup(rank_, device_, index)).first;
    GroupOperations& group = known->second;
    const std::uint32_t call = device_.ops.launch[launch.first_op];
    group.start.push_back(launch.start);
    group.end.push_back(launch.end);
    group.launch.push_back(call == kNone ? kOpen : rank_.api.start[call]);
    group.exposed_ns.push_back(launch.exposed_ns);
    group.blocked_ns.push_back(launch.blocked_ns);
    group.kind.push_back(KindOf(launch));
    const bool to_one =
        launch.calls == 1 && (launch.function == "Send" || launch.function == "Recv");
    group.peer.push_back(to_one ? rank_.collectives.peer[launch.first_call] : -1);
    group.sequence.push_back(launch.first_call == kNone ? -1
                                                        : SequenceOf(rank_, launch.first_call));
    group.step.push_back(step_of_(launch.start));
  }

  std::uint32_t KindOf(const NcclLaunch& launch) {
    const auto [kind, is_new] = index_of_.try_emplace(
        {launch.function, launch.bytes.value_or(-1), launch.algorithm, launch.protocol},
        static_cast<std::uint32_t>(kinds_.size()));
    if (is_new)
      kinds_.push_back(
          {launch.function, launch.bytes.value_or(-1), launch.algorithm, launch.protocol});
    return kind->second;
  }

  const Rank& rank_;
  const Device& device_;
  const StepOfTime& step_of_;
  std::vector<OperationKind> kinds_;
  std::map<std::tuple<std::string, std::int64_t, std::string, std::string>, std::uint32_t>
      index_of_;
  std::map<std::uint32_t, GroupOperations> groups_;  // by row of Rank::communicators
};

// `first`: the process's first device with work, which takes what does not report its device.
std::vector<HungFacts> HungOn(const Rank& rank, const Device& device, bool first,
                              const std::vector<std::uint32_t>& rows) {
  const Collectives& collectives = rank.collectives;
  std::vector<HungFacts> hung;
  for (const std::uint32_t row : rows) {
    const std::uint32_t index = collectives.communicator[row];
    const Communicator unknown;
    const Communicator& communicator = index == kNone ? unknown : rank.communicators[index];
    if (communicator.device ? *communicator.device != device.ordinal : !first) continue;
    HungFacts facts;
    facts.hash = communicator.hash;
    facts.function = rank.string(collectives.function[row]);
    facts.bytes =
        MessageBytes(facts.function, collectives.bytes[row], communicator.size).value_or(-1);
    facts.sequence = SequenceOf(rank, row);
    facts.since = collectives.start[row];
    hung.push_back(std::move(facts));
  }
  return hung;
}

// What NVML sampled over the regular steps.
void SetSampled(const Device& device, const std::vector<StepFacts>& steps, RankSummary& to) {
  const auto regular = [](const StepFacts& step) { return step.regular; };
  const auto first = std::find_if(steps.begin(), steps.end(), regular);
  if (first == steps.end()) return;
  const auto last = std::find_if(steps.rbegin(), steps.rend(), regular);
  const SweptDevice swept = SweepDevice(device, {{first->time.start, last->time.end}});
  const std::optional<Telemetry>& found = swept.telemetry;
  if (const auto link = HostLinkOf(device, found)) {
    to.host_link = link->name;
    to.host_link_gb_per_s = link->gb_per_s;
  }
  if (!found || !found->busy_sm_clock_mhz) return;
  to.busy_sm_clock_mhz = *found->busy_sm_clock_mhz;
  to.throttled_share =
      static_cast<double>(found->slowed_busy_ns) / static_cast<double>(found->busy_ns);
}

// What slows NCCL down if it is set wrongly.
std::vector<std::string> NcclSettings(const Rank& rank) {
  constexpr std::string_view kPrefixes[] = {
      "NCCL_ALGO", "NCCL_PROTO", "NCCL_P2P_",       "NCCL_SHM_",     "NCCL_MAX_",
      "NCCL_MIN_", "NCCL_NET",   "NCCL_IB_DISABLE", "NCCL_BUFFSIZE", "NCCL_NTHREADS"};
  std::vector<std::string> settings;
  for (const SystemFact& fact : rank.facts) {
    const bool counts = fact.kind == "env" && !fact.value.empty() &&
                        std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                                    [&](auto prefix) { return fact.key.starts_with(prefix); });
    if (counts) settings.push_back(fact.key + "=" + fact.value);
  }
  return settings;
}

RankSummary DescribeProcess(const Rank& rank, const Device& device) {
  RankSummary summary;
  summary.path = rank.path;
  summary.host = rank.process.host;
  summary.run_id = rank.run_id;
  summary.gpu = device.name;
  summary.rank = rank.rank.value_or(-1);
  summary.world_size = rank.process.world_size.value_or(0);
  summary.local_rank = rank.process.local_rank.value_or(-1);
  summary.pid = rank.process.pid;
  summary.device = device.ordinal;
  summary.closed = rank.closed;
  summary.start = rank.start;
  summary.end = rank.end;
  summary.nvlink_gb_per_s = NvlinkRate(rank, device);
  summary.nccl_settings = NcclSettings(rank);
  summary.clock_shift = rank.clock_shift;
  summary.clock_drift = rank.clock_drift;
  for (const HealthCounter& counter : rank.health)
    summary.dropped += counter.counter == "dropped" ? counter.value : 0;
  return summary;
}

}  // namespace

RankSummary SummarizeDevice(const DeviceAnalysis& found, bool is_first) {
  const Rank& rank = *found.rank;
  const Device& device = *found.device;
  const StepOfTime step_of(found.steps);
  RankSummary summary = DescribeProcess(rank, device);
  summary.steps = FactsOfSteps(rank, device, found.timeline, found.steps);
  summary.host_step_ns = HostTimeOfStep(found.timeline, summary.steps);
  summary.recording_step_ns = RecordingOfStep(rank, device.ops, summary.steps, step_of);
  summary.lost_beside_communication = LostBesideCommunication(rank, device);
  summary.kernels = CountKernels(rank, device.ops, summary.steps, step_of);
  AddShapes(found, summary);
  AddHostLines(found, summary);
  OperationCollector(rank, device, step_of).Collect(summary);
  summary.hung = HungOn(rank, device, is_first, FindHungCollectives(rank));
  SetSampled(device, summary.steps, summary);
  return summary;
}

std::vector<RankSummary> SummarizeRank(const Rank& rank) {
  std::vector<RankSummary> summaries;
  for (const Device& device : rank.devices) {
    const std::optional<Window> worked = DeviceWindow(device.ops, 0, {});
    if (!worked) continue;
    const DeviceAnalysis found =
        FindStepsAndTimeline(rank, device, ReportedPart(device.ops, *worked));
    summaries.push_back(SummarizeDevice(found, summaries.empty()));
  }
  return summaries;
}

std::vector<RankSummary> SummarizeOperations(const Rank& rank) {
  const StepOfTime step_of{Steps()};
  std::vector<RankSummary> summaries;
  for (const Device& device : rank.devices) {
    if (!DeviceWindow(device.ops, 0, {})) continue;
    RankSummary summary = DescribeProcess(rank, device);
    OperationCollector(rank, device, step_of).Collect(summary);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace traceinject
