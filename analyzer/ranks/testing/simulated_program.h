// SPDX-License-Identifier: Apache-2.0
// What the ranks of a simulated job do in a step, as the frameworks do it: DDP with buckets beside
// the backward pass, FSDP with gathers ahead, tensor parallelism with exposed reductions, 1F1B with
// fused exchanges between stages.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {

// The communicators a rank can be in, and its stream for each.
enum class CommunicatorKind : std::uint8_t { kData, kTensor, kPipeline, kModel };
inline constexpr std::size_t kCommunicatorKinds = 4;

struct SimulatedCommunicator {
  CommunicatorKind kind = CommunicatorKind::kData;
  std::uint64_t hash = 0;
  std::string name;
  std::vector<int> ranks;  // in the order of their rank in it
};

struct SimulatedLayout {
  std::vector<SimulatedCommunicator> communicators;
  // Per rank and kind: index into communicators, -1: none; and its own rank in it.
  std::vector<std::array<int, kCommunicatorKinds>> of_rank, own_rank;

  int Stage(const JobPlan& plan, int rank) const { return rank / (plan.tensor * plan.data); }
};

SimulatedLayout LayOut(const JobPlan& plan);

struct Instruction {
  enum class Kind : std::uint8_t {
    kIdle,     // the host lets the GPU wait
    kCompute,  // kernels on the main stream
    kIssue,    // an operation on the stream of a communicator, when the main stream gets there
    kJoin,     // the main stream waits for the operation of the step numbered `number` there
  };
  Kind kind = Kind::kCompute;
  CommunicatorKind communicator = CommunicatorKind::kData;
  TimeNs length_ns = 0;
  int kernel = 0;               // kCompute: index into kSimulatedKernels
  std::uint32_t operation = 0;  // kIssue: index into SimulatedPrograms::kinds
  int peer = -1;                // of a Send or Recv, in the communicator
  int number = 0;
};

struct SimulatedKernel {
  const char* name;
  TimeNs length_ns;
};
inline constexpr std::array<SimulatedKernel, 3> kSimulatedKernels = {{
    {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN", 250'000},
    {"nvjet_hsh_256x128_64x4_2x1_v_bz_coopA_NNT", 250'000},
    {"multi_tensor_apply_kernel", 100'000},
}};

struct SimulatedPrograms {
  std::vector<OperationKind> kinds;
  std::vector<std::vector<Instruction>> first;  // per stage: before the first step
  std::vector<std::vector<Instruction>> step;   // per stage
};

SimulatedPrograms WritePrograms(const JobPlan& plan);

}  // namespace traceinject
