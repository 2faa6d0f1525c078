// SPDX-License-Identifier: Apache-2.0
// Ranks as execution traces of Chakra (schemas/chakra.proto), which simulators such as ASTRA-sim
// replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/export/chakra/comm_groups.h"
#include "analyzer/export/output_file.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct ChakraCounts {
  std::uint64_t nodes = 0;
  // What a simulator lacks, because the recording does not tell.
  std::uint64_t without_size = 0;    // operations of NCCL
  std::uint64_t without_peer = 0;    // sends and receives
  std::uint64_t without_launch = 0;  // operations on GPUs

  ChakraCounts& operator+=(const ChakraCounts& other);
};

// The nodes of chakra_graph.h of run.ranks[rank], one message each:
//   - kernels, memsets, and copies inside of a GPU are compute nodes, copies from and to the host
//   memory nodes, calls and host time compute nodes of the CPU;
//   - operations of NCCL are communication nodes with what their rank gives in bytes (of a gather
//   its part), their group by number, and the rank that they send to or receive from;
//   - FLOPs and bytes of kernels where the call tells them.
// Times are on a grid of whole microseconds: those of a stream or thread add up. What they are in
// nanoseconds stands in attributes. `chosen`: as in MakeChakraGraph. O(events log events). Failures
// to write show with OutputFile::Close().
ChakraCounts WriteChakraTrace(const Run& run, std::size_t rank, const CommGroups& groups,
                              const std::vector<Intervals>& chosen, OutputFile& file);

}  // namespace traceinject
