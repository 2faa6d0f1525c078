// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/own_dictionaries.h"

#include <gtest/gtest.h>

#include <vector>

namespace traceinject {
namespace {

using Indices = std::vector<std::uint32_t>;

void AddOp(Rank& rank, OpKind kind, std::uint32_t detail, std::uint32_t graph_node) {
  GpuOps& ops = rank.devices.back().ops;
  ops.start.push_back(0);
  ops.end.push_back(1);
  ops.kind.push_back(kind);
  ops.detail.push_back(detail);
  ops.graph_node.push_back(graph_node);
}

TEST(LeaveOwnEntries, LeavesWhatIsReferredToInItsOrder) {
  Rank rank;
  for (std::int32_t registers = 0; registers < 5; ++registers)
    rank.shapes.emplace_back().registers = registers;
  for (std::uint64_t node = 0; node < 4; ++node) rank.graph_nodes.push_back({1, node});
  for (const char* name : {"a", "b", "c"}) rank.api_names.emplace_back().name = name;
  for (std::int64_t m = 0; m < 3; ++m) rank.gemm_shapes.emplace_back().m = m;
  rank.attention_shapes.resize(2);
  rank.devices.resize(2);
  AddOp(rank, OpKind::kKernel, 4, kNone);
  AddOp(rank, OpKind::kMemcpy, 3, 2);  // 3 is a transfer, no shape
  rank.devices.emplace_back();
  AddOp(rank, OpKind::kKernel, 1, 3);
  AddOp(rank, OpKind::kKernel, 4, 2);
  rank.api.name = {2, 0, 2};
  rank.gemms.shape = {1, 1};

  LeaveOwnEntries(rank);

  ASSERT_EQ(rank.shapes.size(), 2U);
  EXPECT_EQ(rank.shapes[0].registers, 1);
  EXPECT_EQ(rank.shapes[1].registers, 4);
  EXPECT_EQ(rank.devices[1].ops.detail, (Indices{1, 3}));
  EXPECT_EQ(rank.devices[2].ops.detail, (Indices{0, 1}));
  ASSERT_EQ(rank.graph_nodes.size(), 2U);
  EXPECT_EQ(rank.graph_nodes[1].node_id, 3U);
  EXPECT_EQ(rank.devices[1].ops.graph_node[0], kNone);
  EXPECT_EQ(rank.devices[1].ops.graph_node[1], 0U);
  EXPECT_EQ(rank.devices[2].ops.graph_node[0], 1U);
  EXPECT_EQ(rank.api.name, (IndexColumn{1, 0, 1}));
  EXPECT_EQ(rank.api_names[1].name, "c");
  EXPECT_EQ(rank.gemms.shape, (Indices{0, 0}));
  ASSERT_EQ(rank.gemm_shapes.size(), 1U);
  EXPECT_EQ(rank.gemm_shapes[0].m, 1);
  EXPECT_TRUE(rank.attention_shapes.empty());
}

TEST(LeaveOwnEntries, LeavesTheCallersOfStacks) {
  Rank rank;
  for (std::int32_t line = 0; line < 5; ++line) rank.places.push_back({.line = line});
  rank.stacks = {{kNone, 4}, {kNone, 1}, {0, 2}, {1, 3}, {3, 2}};
  rank.stack_samples.stack = {4, kNone, 4};

  LeaveOwnEntries(rank);

  ASSERT_EQ(rank.stacks.size(), 3U);
  EXPECT_EQ(rank.stack_samples.stack, (Indices{2, kNone, 2}));
  EXPECT_EQ(rank.stacks[2].caller, 1U);
  EXPECT_EQ(rank.stacks[1].caller, 0U);
  EXPECT_EQ(rank.stacks[0].caller, kNone);
  ASSERT_EQ(rank.places.size(), 3U);
  EXPECT_EQ(rank.places[rank.stacks[2].place].line, 2);
  EXPECT_EQ(rank.places[rank.stacks[0].place].line, 1);
}

}  // namespace
}  // namespace traceinject
