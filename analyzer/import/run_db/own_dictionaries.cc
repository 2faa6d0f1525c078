// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/own_dictionaries.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace traceinject {
namespace {

// Which entries of a dictionary are used, and then their new indices.
class Renumbering {
 public:
  explicit Renumbering(std::size_t entries) : index_(entries, kNone) {}

  void Use(std::uint32_t entry) {
    if (entry != kNone) index_[entry] = 0;
  }
  template <typename Entry>
  void LeaveUsed(std::vector<Entry>& entries) {
    std::vector<Entry> used;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (index_[i] == kNone) continue;
      index_[i] = static_cast<std::uint32_t>(used.size());
      used.push_back(std::move(entries[i]));
    }
    entries = std::move(used);
  }
  std::uint32_t Of(std::uint32_t entry) const { return entry == kNone ? kNone : index_[entry]; }

 private:
  std::vector<std::uint32_t> index_;
};

template <typename Entry, typename Column>
void LeaveUsed(std::vector<Entry>& entries, Column& column) {
  Renumbering renumbering(entries.size());
  for (const std::uint32_t entry : column) renumbering.Use(entry);
  renumbering.LeaveUsed(entries);
  Column left;
  left.reserve(column.size());
  for (const std::uint32_t entry : column) left.push_back(renumbering.Of(entry));
  column = std::move(left);
}

// Of operations that are no kernels, GpuOps::detail is no shape.
void LeaveUsedShapes(Rank& rank) {
  Renumbering renumbering(rank.shapes.size());
  const auto for_each = [&](auto act) {
    for (Device& device : rank.devices) {
      for (std::size_t op = 0; op < device.ops.size(); ++op) {
        if (device.ops.kind[op] == OpKind::kKernel) act(device.ops.detail[op]);
      }
    }
  };
  for_each([&](std::uint32_t shape) { renumbering.Use(shape); });
  renumbering.LeaveUsed(rank.shapes);
  for_each([&](std::uint32_t& shape) { shape = renumbering.Of(shape); });
}

void LeaveUsedGraphNodes(Rank& rank) {
  if (rank.graph_nodes.empty()) return;
  Renumbering renumbering(rank.graph_nodes.size());
  for (const Device& device : rank.devices) {
    for (std::size_t op = 0; op < device.ops.size(); ++op)
      renumbering.Use(device.ops.graph_node[op]);
  }
  renumbering.LeaveUsed(rank.graph_nodes);
  for (Device& device : rank.devices) {
    PackedColumn<std::uint32_t> nodes;
    for (std::size_t op = 0; op < device.ops.size(); ++op)
      nodes.push_back(renumbering.Of(device.ops.graph_node[op]));
    device.ops.graph_node = std::move(nodes);
  }
}

// What is used leads to its callers, which stand before it.
void LeaveUsedStacks(Rank& rank) {
  Renumbering renumbering(rank.stacks.size());
  for (const std::uint32_t stack : rank.stack_samples.stack) renumbering.Use(stack);
  for (std::size_t i = rank.stacks.size(); i-- > 0;) {
    if (renumbering.Of(static_cast<std::uint32_t>(i)) != kNone)
      renumbering.Use(rank.stacks[i].caller);
  }
  renumbering.LeaveUsed(rank.stacks);
  for (std::uint32_t& stack : rank.stack_samples.stack) stack = renumbering.Of(stack);
  std::vector<std::uint32_t> places;
  for (CodeStack& stack : rank.stacks) {
    stack.caller = renumbering.Of(stack.caller);
    places.push_back(stack.place);
  }
  LeaveUsed(rank.places, places);
  for (std::size_t i = 0; i < places.size(); ++i) rank.stacks[i].place = places[i];
}

}  // namespace

void LeaveOwnEntries(Rank& rank) {
  LeaveUsedShapes(rank);
  LeaveUsedGraphNodes(rank);
  LeaveUsed(rank.api_names, rank.api.name);
  LeaveUsed(rank.gemm_shapes, rank.gemms.shape);
  LeaveUsed(rank.attention_shapes, rank.attentions.shape);
  LeaveUsedStacks(rank);
}

}  // namespace traceinject
