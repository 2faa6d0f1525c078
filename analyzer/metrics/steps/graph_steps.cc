// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/graph_steps.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "analyzer/metrics/steps/steps.h"

namespace traceinject {
namespace {

constexpr double kMinCovered = 0.5;  // of the time in which the device was busy

struct Graph {
  std::vector<std::uint32_t> launches;  // calls, in the order of their work on the device
  TimeNs busy_ns = 0;
  bool optimizer = false;
};

std::map<std::uint32_t, Graph> GraphsOf(const Rank& rank, const GpuOps& ops) {
  std::map<std::uint32_t, Graph> graphs;
  Graph* graph = nullptr;
  std::uint32_t id = kNone;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (ops.graph_node[row] == kNone || ops.launch[row] == kNone) continue;
    const std::uint32_t of = rank.graph_nodes[ops.graph_node[row]].graph_id;
    if (graph == nullptr || of != id) graph = &graphs[id = of];
    graph->busy_ns += ops.end[row] - ops.start[row];
    graph->optimizer |= ops.kernel_class[row] == KernelClass::kOptimizer;
    if (graph->launches.empty() || graph->launches.back() != ops.launch[row])
      graph->launches.push_back(ops.launch[row]);
  }
  return graphs;
}

// Of the busy time, what was launched in [first, last].
double Covered(const Rank& rank, const GpuOps& ops, TimeNs first, TimeNs last) {
  double inside = 0, all = 0;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    const auto length = static_cast<double>(ops.end[row] - ops.start[row]);
    all += length;
    if (ops.launch[row] == kNone) continue;
    const TimeNs launched = rank.api.start[ops.launch[row]];
    if (launched >= first && launched <= last) inside += length;
  }
  return all > 0 ? inside / all : 0;
}

}  // namespace

std::optional<StructureSteps> FindGraphSteps(const Rank& rank, const GpuOps& ops) {
  std::map<std::uint32_t, Graph> graphs = GraphsOf(rank, ops);
  Graph* longest = nullptr;
  for (auto& [id, graph] : graphs) {
    if (graph.optimizer && (longest == nullptr || graph.busy_ns > longest->busy_ns))
      longest = &graph;
  }
  if (longest == nullptr) return std::nullopt;
  std::vector<TimeNs> replays;
  for (const std::uint32_t launch : longest->launches) replays.push_back(rank.api.start[launch]);
  std::sort(replays.begin(), replays.end());
  // Branches of a graph run at the same time as those of the next replay.
  replays.erase(std::unique(replays.begin(), replays.end()), replays.end());
  if (replays.size() <= kMinSteps) return std::nullopt;
  StructureSteps steps;
  steps.confidence = Covered(rank, ops, replays.front(), replays.back());
  if (steps.confidence < kMinCovered) return std::nullopt;
  for (const TimeNs launched : replays) steps.cuts.push_back(launched + 1);
  return steps;
}

}  // namespace traceinject
