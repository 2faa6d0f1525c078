// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/metrics/idle/thread_rows.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

constexpr char kCopyEngine[] = "copy engine";

// Its kernels, and the copies of operations that the copy engines executed (MarkNcclCopies).
bool IsNccl(const Rank& rank, const GpuOps& ops, std::size_t row) {
  if (ops.kernel_class[row] != KernelClass::kComm) return false;
  return ops.kind[row] != OpKind::kKernel ||
         IsNcclKernelName(rank.string(rank.shapes[ops.detail[row]].name));
}

// "AllReduce" of ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...) and of
// ncclKernel_AllReduce_RING_LL_Sum_float(...).
std::string FunctionOfKernel(std::string_view name) {
  for (const std::string_view prefix : {"ncclDevKernel_", "ncclKernel_"}) {
    const std::size_t at = name.find(prefix);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = name.substr(at + prefix.size());
    return std::string(rest.substr(0, rest.find_first_of("_(<")));
  }
  return "unknown";
}

// The calls between an outermost ncclGroupStart and its ncclGroupEnd, launched inside the range of
// the latter.
struct NcclGroup {
  Interval end_range;
  std::uint32_t thread = 0;
  std::vector<std::uint32_t> calls;
};

class GroupFinder {
 public:
  explicit GroupFinder(const Rank& rank, const ThreadRows& calls)
      : rank_(rank), calls_(calls), open_(rank.threads.size()) {}

  // In order of their ncclGroupEnd.
  std::vector<NcclGroup> Find() {
    const NvtxRanges& nvtx = rank_.nvtx;
    const std::uint32_t start = TextId("ncclGroupStart"), end = TextId("ncclGroupEnd");
    for (std::uint32_t row = 0; row < nvtx.size(); ++row) {
      const std::uint32_t thread = nvtx.thread[row];
      if (thread >= open_.size() || nvtx.text[row] == kNone) continue;
      if (nvtx.text[row] != start && nvtx.text[row] != end) continue;
      if (nvtx.domain[row] >= rank_.nvtx_domains.size() ||
          rank_.nvtx_domains[nvtx.domain[row]] != "NCCL")
        continue;
      nvtx.text[row] == start ? Enter(thread, nvtx.start[row])
                              : Leave(thread, {nvtx.start[row], nvtx.end[row]});
    }
    return std::move(groups_);
  }

 private:
  struct Open {
    int depth = 0;
    TimeNs start = 0;
  };

  std::uint32_t TextId(std::string_view text) const {
    const auto found = std::find(rank_.strings.begin(), rank_.strings.end(), text);
    return found == rank_.strings.end() ? kNone
                                        : static_cast<std::uint32_t>(found - rank_.strings.begin());
  }
  void Enter(std::uint32_t thread, TimeNs time) {
    if (open_[thread].depth++ == 0) open_[thread].start = time;
  }
  void Leave(std::uint32_t thread, Interval range) {
    Open& open = open_[thread];
    // An end whose start came before the recording.
    if (open.depth == 0 || --open.depth > 0) return;
    NcclGroup group{range, thread, {}};
    calls_.ForEachOverlapping(thread, {open.start, range.start}, [&](std::uint32_t row) {
      if (rank_.collectives.start[row] >= open.start) group.calls.push_back(row);
    });
    groups_.push_back(std::move(group));
  }

  const Rank& rank_;
  const ThreadRows& calls_;
  std::vector<Open> open_;
  std::vector<NcclGroup> groups_;
};

// The operations that NCCL said each launch executed. Launches that share one, as those of a
// large AlltoAll do, are one issue.
class PlannedIssues {
 public:
  explicit PlannedIssues(const Rank& rank) {
    const CollectivePlans& plans = rank.plans;
    if (plans.size() == 0) return;
    root_.resize(rank.collectives.size(), kNone);
    for (std::uint32_t row = 0; row < plans.size(); ++row) {
      if (plans.launch[row] == kNone) continue;
      const std::uint32_t call = plans.collective[row];
      if (root_[call] == kNone) root_[call] = call;
      const auto [launch, is_new] = call_of_launch_.try_emplace(plans.launch[row], call);
      if (!is_new) root_[Root(call)] = Root(launch->second);
    }
    for (std::uint32_t call = 0; call < root_.size(); ++call) {
      if (root_[call] != kNone) calls_[Root(call)].push_back(call);
    }
  }

  // One of the calls of the issue that a launch belongs to; kNone: NCCL did not tell.
  std::uint32_t OfLaunch(std::uint32_t launch) const {
    const auto found = call_of_launch_.find(launch);
    return found == call_of_launch_.end() ? kNone : Root(found->second);
  }
  std::uint32_t OfCall(std::uint32_t call) const {
    return call >= root_.size() || root_[call] == kNone ? kNone : Root(call);
  }
  const std::vector<std::uint32_t>& CallsOf(std::uint32_t issue) const { return calls_.at(issue); }

 private:
  std::uint32_t Root(std::uint32_t call) const {
    while (root_[call] != call) call = root_[call];
    return call;
  }

  std::vector<std::uint32_t> root_;  // by call; kNone: not planned
  std::unordered_map<std::uint32_t, std::uint32_t> call_of_launch_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> calls_;  // by root
};

// Looks up the calls behind a launch.
class Issuers {
 public:
  explicit Issuers(const Rank& rank)
      : rank_(rank),
        planned_(rank),
        calls_(rank.collectives.start, rank.collectives.end, rank.collectives.thread,
               rank.threads.size()),
        groups_(GroupFinder(rank, calls_).Find()) {
    for (const NcclGroup& group : groups_) {
      start_.push_back(group.end_range.start);
      end_.push_back(group.end_range.end);
      thread_.push_back(group.thread);
    }
    group_rows_.emplace(start_, end_, thread_, rank.threads.size());
    first_group_ = static_cast<std::uint32_t>(rank.collectives.size());
  }

  // A number that is the same for kernels of the same issue; kNone: no call found.
  std::uint32_t Find(std::uint32_t launch) const {
    if (const std::uint32_t issue = planned_.OfLaunch(launch); issue != kNone) return issue;
    const std::uint32_t thread = rank_.api.thread[launch];
    const TimeNs time = rank_.api.start[launch];
    const std::uint32_t call = calls_.Innermost(thread, time);
    if (call != kNone) {
      const std::uint32_t issue = planned_.OfCall(call);
      return issue != kNone ? issue : call;
    }
    const std::uint32_t group = group_rows_->Innermost(thread, time);
    return group == kNone ? kNone : first_group_ + group;
  }
  // Of a group those that no other launch is known to have executed.
  std::vector<std::uint32_t> CallsOf(std::uint32_t issue) const {
    if (issue < first_group_) {
      return planned_.OfCall(issue) == kNone ? std::vector<std::uint32_t>{issue}
                                             : planned_.CallsOf(issue);
    }
    std::vector<std::uint32_t> calls = groups_[issue - first_group_].calls;
    calls.erase(std::remove_if(calls.begin(), calls.end(),
                               [&](std::uint32_t call) { return planned_.OfCall(call) != kNone; }),
                calls.end());
    return calls;
  }

 private:
  const Rank& rank_;
  PlannedIssues planned_;
  ThreadRows calls_;
  std::vector<NcclGroup> groups_;
  TimeColumn start_, end_;
  IndexColumn thread_;
  std::optional<ThreadRows> group_rows_;
  std::uint32_t first_group_ = 0;
};

std::string JoinWords(const std::set<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : "+") + std::string(word);
  return text;
}

std::string JoinNames(const std::set<std::string_view>& names) {
  if (names.count("Send") + names.count("Recv") == names.size() && !names.empty()) {
    return names.size() == 2 ? "Send+Recv" : std::string(*names.begin());
  }
  return JoinWords(names);
}

// The communicator of a call whose kernel ran on this device. A process that drives several devices
// has one of the same hash on each, and the call names but one of them. kNone: there is none here.
std::uint32_t OnDevice(const Rank& rank, std::uint32_t id, int ordinal, TimeNs called) {
  const std::uint64_t hash = rank.communicators[id].hash;
  std::uint32_t found = kNone;
  for (std::uint32_t other = 0; other < rank.communicators.size(); ++other) {
    const Communicator& one = rank.communicators[other];
    if (one.hash != hash || one.device != ordinal || one.created > called) continue;
    if (found == kNone || one.created >= rank.communicators[found].created) found = other;
  }
  return found;
}

// Fills in what the calls say: function, communicator, size, algorithm and protocol. A group may
// span devices: of its calls those count whose communicator is on this device, or does not report;
// of a single call, and of those that NCCL told of, it is certain that they ran here.
void Describe(const Rank& rank, int ordinal, const std::vector<std::uint32_t>& calls,
              NcclLaunch& launch, std::vector<std::uint32_t>* counted) {
  const Collectives& all = rank.collectives;
  std::set<std::string_view> functions, algorithms, protocols;
  std::set<std::uint32_t> communicators;
  std::set<std::optional<int>> sizes;
  std::int64_t sent = 0, received = 0, rest = 0;
  bool known = true;
  for (const std::uint32_t row : calls) {
    std::uint32_t id = all.communicator[row];
    const auto is_elsewhere = [&] {
      return id < rank.communicators.size() &&
             rank.communicators[id].device.value_or(ordinal) != ordinal;
    };
    if (is_elsewhere() && (calls.size() == 1 || all.plan[row] != kNone))
      id = OnDevice(rank, id, ordinal, all.start[row]);
    if (is_elsewhere()) continue;
    const Communicator* communicator =
        id < rank.communicators.size() ? &rank.communicators[id] : nullptr;
    const std::optional<int> size = communicator != nullptr ? communicator->size : std::nullopt;
    const std::string_view function = rank.string(all.function[row]);
    const std::optional<std::int64_t> bytes = MessageBytes(function, all.bytes[row], size);
    known &= bytes.has_value();
    (function == "Send" ? sent : function == "Recv" ? received : rest) += bytes.value_or(0);
    functions.insert(function);
    communicators.insert(id);
    sizes.insert(size);
    if (row < all.plan.size() && all.plan[row] != kNone) {
      const std::string_view algorithm = rank.string(rank.plans.algorithm[all.plan[row]]);
      const std::string_view protocol = rank.string(rank.plans.protocol[all.plan[row]]);
      if (!algorithm.empty()) algorithms.insert(algorithm);
      if (!protocol.empty()) protocols.insert(protocol);
      if (const std::int32_t channels = rank.plans.channels[all.plan[row]]; channels >= 0)
        launch.channels = std::max(launch.channels.value_or(0), static_cast<int>(channels));
    }
    if (launch.calls++ == 0) launch.first_call = row;
    if (counted != nullptr) counted->push_back(row);
  }
  if (launch.calls == 0) return;
  launch.function = JoinNames(functions);
  launch.algorithm = JoinWords(algorithms);
  launch.protocol = JoinWords(protocols);
  if (communicators.size() == 1) launch.communicator = *communicators.begin();
  if (sizes.size() == 1) launch.communicator_size = *sizes.begin();
  if (known) launch.bytes = std::max(sent, received) + rest;
}

// Of a trace without calls of NCCL all kernels are of the communicator that it is taken to have.
void DescribeAssumed(const Rank& rank, NcclLaunch& launch) {
  if (rank.collectives.size() > 0 || rank.communicators.size() != 1 ||
      rank.communicators.front().hash != kAssumedWorld)
    return;
  launch.communicator = 0;
  launch.communicator_size = rank.communicators.front().size;
}

// Adds a kernel or copy to its launch; the union of these is its time. `busy_until`: the latest end
// of those before.
void AddOperation(std::uint32_t row, OpKind kind, Interval time, const Intervals& compute,
                  NcclLaunch& launch, TimeNs& busy_until) {
  if (launch.first_op == kNone) {
    launch.first_op = row;
    launch.start = busy_until = time.start;
  }
  ++(kind == OpKind::kKernel ? launch.kernels : launch.copies);
  const Interval added{std::max(time.start, busy_until), time.end};
  if (added.end > added.start) {
    launch.kernel_ns += added.end - added.start;
    launch.exposed_ns += added.end - added.start - LengthInside(compute, added);
    launch.blocked_ns = FreeTail(compute, added);
  }
  busy_until = std::max(busy_until, time.end);
}

// When kernels ran that do not communicate.
Intervals ComputeTimes(const GpuOps& ops) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] == OpKind::kKernel && ops.kernel_class[row] != KernelClass::kComm)
      rows.push_back(row);
  }
  return MergeColumns(ops.start, ops.end, kOpen, &rows);
}

std::vector<std::uint32_t> NcclRows(const Rank& rank, const GpuOps& ops) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (IsNccl(rank, ops, row)) rows.push_back(row);
  }
  return rows;
}

}  // namespace

NcclLinks LinkNccl(const Rank& rank, const Device& device, NcclParts* parts) {
  const GpuOps& ops = device.ops;
  const Issuers issuers(rank);
  const std::vector<std::uint32_t> rows = NcclRows(rank, ops);
  const Intervals compute = rows.empty() ? Intervals() : ComputeTimes(ops);
  NcclLinks links;
  links.launches.reserve(rows.size());  // as good as all have one
  std::unordered_map<std::uint32_t, std::uint32_t> by_issue;
  std::vector<std::uint32_t> issues;     // per launch
  std::vector<TimeNs> busy_until;        // per launch
  std::vector<std::uint32_t> launch_of;  // per row
  for (const std::uint32_t row : rows) {
    std::uint32_t issue = kNone;
    if (const std::uint32_t launch = ops.launch[row]; launch != kNone) {
      issue = issuers.Find(launch);
    }
    auto at = static_cast<std::uint32_t>(links.launches.size());
    if (issue != kNone) at = by_issue.try_emplace(issue, at).first->second;
    if (at == links.launches.size()) {
      links.launches.emplace_back();
      issues.push_back(issue);
      busy_until.push_back(0);
    }
    AddOperation(row, ops.kind[row], {ops.start[row], ops.end[row]}, compute, links.launches[at],
                 busy_until[at]);
    launch_of.push_back(at);
  }

  if (parts != nullptr) parts->calls.resize(links.launches.size());
  for (std::size_t i = 0; i < links.launches.size(); ++i) {
    NcclLaunch& launch = links.launches[i];
    launch.end = busy_until[i];
    if (issues[i] != kNone)
      Describe(rank, device.ordinal, issuers.CallsOf(issues[i]), launch,
               parts == nullptr ? nullptr : &parts->calls[i]);
    if (launch.kernels == 0) {
      launch.algorithm = kCopyEngine;
      if (launch.calls == 0) launch.function = "unknown";  // its communicator is on another device
    } else if (launch.calls == 0) {
      launch.function =
          FunctionOfKernel(rank.string(rank.shapes[ops.detail[launch.first_op]].name));
      DescribeAssumed(rank, launch);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (parts != nullptr) parts->ops.emplace_back(rows[i], launch_of[i]);
    if (ops.kind[rows[i]] == OpKind::kKernel && links.launches[launch_of[i]].calls > 0)
      links.linked_rows.push_back(rows[i]);
  }
  return links;
}

std::optional<std::int64_t> MessageBytes(std::string_view function, std::int64_t bytes,
                                         std::optional<int> n) {
  static constexpr std::string_view kPerRank[] = {"AllGather", "ReduceScatter", "AlltoAll",
                                                  "Gather", "Scatter"};
  if (bytes < 0) return std::nullopt;
  if (std::find(std::begin(kPerRank), std::end(kPerRank), function) == std::end(kPerRank))
    return bytes;
  if (!n) return std::nullopt;
  return bytes * *n;
}

std::optional<double> BusFactor(std::string_view function, std::optional<int> n) {
  static constexpr std::string_view kUnity[] = {"Broadcast", "Reduce", "Send", "Recv", "Send+Recv"};
  if (std::find(std::begin(kUnity), std::end(kUnity), function) != std::end(kUnity)) return 1.0;
  if (!n || *n < 2) return std::nullopt;
  const double others = static_cast<double>(*n - 1) / *n;
  if (function == "AllReduce") return 2 * others;
  static constexpr std::string_view kOthers[] = {"AllGather", "ReduceScatter", "AlltoAll", "Gather",
                                                 "Scatter"};
  if (std::find(std::begin(kOthers), std::end(kOthers), function) != std::end(kOthers))
    return others;
  return std::nullopt;
}

bool WaitsForAllRanks(std::string_view function) {
  return function == "AllReduce" || function == "AllGather" || function == "ReduceScatter" ||
         function == "AlltoAll";
}

CommKernels CountCommKernels(const Rank& rank, const GpuOps& ops, const OpRanges& ranges) {
  CommKernels count;
  for (const OpRange& range : ranges) {
    for (std::size_t row = range.begin; row < range.end; ++row) {
      if (ops.kind[row] != OpKind::kKernel || ops.kernel_class[row] != KernelClass::kComm) continue;
      ++(IsNccl(rank, ops, row) ? count.nccl : count.other);
    }
  }
  return count;
}

std::int64_t CountLinked(const NcclLinks& links, const OpRanges& ranges) {
  std::int64_t count = 0;
  for (const OpRange& range : ranges) {
    const auto first =
        std::lower_bound(links.linked_rows.begin(), links.linked_rows.end(), range.begin);
    count += std::lower_bound(first, links.linked_rows.end(), range.end) - first;
  }
  return count;
}

}  // namespace traceinject
