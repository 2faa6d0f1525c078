// SPDX-License-Identifier: Apache-2.0
// How a job is parallelised, from its communicators and what they are used for: groups of like size
// and like use are one kind of group.
//
//   pipeline   Send and Recv
//   expert     mostly AlltoAll
//   tensor     many operations a step that hide behind nothing: each rank computes a part of every
//              layer and needs the others' before it goes on
//   sharded    AllGather and ReduceScatter: data parallel with sharded parameters (FSDP, ZeRO-3)
//   data       AllReduce of gradients: few large operations, or hidden behind compute
// What is used less than once a step, or carries less than kMinGroupBytes a step, is "other":
// barriers, norms, logging.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/replay/job_steps.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

inline constexpr std::int64_t kMinGroupBytes = 64 << 10;

enum class GroupUse : std::uint8_t { kPipeline, kExpert, kTensor, kSharded, kData, kOther };

std::string_view GroupUseName(GroupUse use);

// Groups of one use and size.
struct ParallelGroups {
  GroupUse use = GroupUse::kOther;
  int size = 0;
  std::vector<std::size_t> groups;  // indices into the matched groups
  std::size_t count = 0;            // communicators: the pairs of one are several matched groups
  // No group reaches beyond a host; empty: not all hosts are known.
  std::optional<bool> one_host = true;
  // Means over ranks and regular steps.
  double operations = 0, bytes = 0;
  double communication_ns = 0;  // of kernels
  double exposed_ns = 0;        // of these, with nothing else running
};

// By exposed time, the largest first. O(operations).
std::vector<ParallelGroups> FindParallelGroups(const Job& job,
                                               const std::vector<MatchedGroup>& groups,
                                               const JobSteps& steps);

}  // namespace traceinject
