// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/chakra_host.h"

#include <algorithm>
#include <unordered_map>

namespace traceinject {
namespace {

// One thread, call by call.
class ThreadNodes {
 public:
  ThreadNodes(const Rank& rank, std::uint32_t thread, TimeNs from,
              const ChakraOperations& operations, const WaitTargets& waits,
              std::vector<ChakraNode>& nodes)
      : rank_(rank),
        thread_(thread),
        until_(from),
        operations_(operations),
        waits_(waits),
        nodes_(nodes) {}

  // `launched`: what the call launched of the chosen.
  void AddCall(std::uint32_t call, const std::vector<OpRef>& launched) {
    Interval time{rank_.api.start[call], rank_.api.end[call]};
    // Of calls inside of each other the outer one stands for both.
    if (time.start < until_) return Launch(last_, launched);
    if (time.start > until_) Add(ChakraNodeKind::kHostCode, {until_, time.start}, kNone);
    if (launched.empty()) return AddWait(call, time, waits_.OfCall(call));
    TimeNs first = time.end;
    for (const OpRef op : launched) first = std::min(first, StartOf(op));
    Add(ChakraNodeKind::kCall, {time.start, std::max(first, time.start)}, call);
    Launch(last_, launched);
    if (WaitsForCopy(launched)) AddWait(call, {until_, time.end}, launched);
  }

 private:
  TimeNs StartOf(OpRef op) const { return rank_.devices[op.device].ops.start[op.row]; }
  TimeNs EndOf(OpRef op) const { return rank_.devices[op.device].ops.end[op.row]; }

  void Add(ChakraNodeKind kind, Interval time, std::uint32_t call) {
    ChakraNode node{.kind = kind, .time = time, .thread = thread_, .row = call};
    if (last_ != kNone) node.after.push_back(last_);
    last_ = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(std::move(node));
    until_ = time.end;
  }

  void Launch(std::uint32_t call_node, const std::vector<OpRef>& launched) {
    if (call_node == kNone) return;
    for (const OpRef op : launched) {
      const auto [first, end] = operations_.NodesOf(op);
      for (std::uint32_t node = first; node < end; ++node) nodes_[node].after.push_back(call_node);
    }
  }

  // Whether the call came back after the copy that it made.
  bool WaitsForCopy(const std::vector<OpRef>& launched) const {
    return std::any_of(launched.begin(), launched.end(), [&](OpRef op) {
      const GpuOps& ops = rank_.devices[op.device].ops;
      return ops.kind[op.row] == OpKind::kMemcpy && !rank_.transfers[ops.detail[op.row]].async;
    });
  }

  // The time in which it waited is not the host's: what is left is from the end of the last
  // operation on. What ended later was not waited for.
  void AddWait(std::uint32_t call, Interval time, std::vector<OpRef> ops) {
    std::erase_if(ops, [&](OpRef op) { return EndOf(op) > time.end; });
    if (ops.empty()) {
      if (time.end > until_) Add(ChakraNodeKind::kCall, time, call);
      return;
    }
    TimeNs ready = time.start;
    for (const OpRef op : ops) ready = std::max(ready, EndOf(op));
    Add(ChakraNodeKind::kWait, {ready, time.end}, call);
    for (const OpRef op : ops) {
      const auto [first, end] = operations_.NodesOf(op);
      for (std::uint32_t node = first; node < end; ++node) nodes_[last_].after.push_back(node);
    }
  }

  const Rank& rank_;
  std::uint32_t thread_, last_ = kNone;
  TimeNs until_;  // what has a node
  const ChakraOperations& operations_;
  const WaitTargets& waits_;
  std::vector<ChakraNode>& nodes_;
};

struct LaunchedOps {
  std::unordered_map<std::uint32_t, std::vector<OpRef>> by_call;
  TimeNs from = kOpen, to = 0;  // the first call that launched, and the last end of an operation
};

LaunchedOps FindLaunched(const Rank& rank, const ChakraOperations& operations) {
  LaunchedOps launched;
  for (const auto& stream : operations.by_stream()) {
    for (const OpRef op : stream) {
      const GpuOps& ops = rank.devices[op.device].ops;
      const std::uint32_t call = ops.launch[op.row];
      launched.to = std::max(launched.to, ops.end[op.row]);
      if (call == kNone) continue;
      launched.by_call[call].push_back(op);
      launched.from = std::min(launched.from, rank.api.start[call]);
    }
  }
  return launched;
}

}  // namespace

void AddHostNodes(const Rank& rank, const ChakraOperations& operations, const WaitTargets& waits,
                  std::vector<ChakraNode>& nodes) {
  const LaunchedOps launched = FindLaunched(rank, operations);
  std::vector<bool> launches(rank.threads.size());
  for (const auto& [call, ops] : launched.by_call) launches[rank.api.thread[call]] = true;
  std::vector<ThreadNodes> threads;
  for (std::uint32_t thread = 0; thread < rank.threads.size(); ++thread)
    threads.emplace_back(rank, thread, launched.from, operations, waits, nodes);
  for (std::uint32_t call = 0; call < rank.api.size(); ++call) {
    if (!launches[rank.api.thread[call]] || rank.api.start[call] < launched.from) continue;
    const auto found = launched.by_call.find(call);
    const bool waits_here =
        rank.api_names[rank.api.name[call]].api_class == ApiClass::kSynchronize &&
        rank.api.start[call] <= launched.to;
    if (found != launched.by_call.end()) {
      threads[rank.api.thread[call]].AddCall(call, found->second);
    } else if (waits_here) {
      threads[rank.api.thread[call]].AddCall(call, {});
    }
  }
}

}  // namespace traceinject
