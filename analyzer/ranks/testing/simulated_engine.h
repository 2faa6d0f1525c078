// SPDX-License-Identifier: Apache-2.0
// Plays the programs of all ranks of a simulated job against each other, in true time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/ranks/testing/simulated_chance.h"
#include "analyzer/ranks/testing/simulated_program.h"

namespace traceinject {

// An operation as one rank went through it.
struct PlayedOperation {
  TimeNs start = 0, end = 0, launch = 0;
  TimeNs last_start = 0, transfer_ns = 0;
  std::uint32_t kind = 0;    // index into SimulatedPrograms::kinds
  std::uint32_t number = 0;  // on the communicator; of exchanges, between the two
  int peer = -1, step = 0;
};

struct PlayedKernels {
  int kernel = 0, step = 0;  // index into kSimulatedKernels
  std::int64_t count = 0;
  TimeNs each_ns = 0;
};

struct PlayedIdle {
  Interval time;
  IdleCause cause = IdleCause::kUnknown;
};

// An operation that was issued and never ended.
struct PlayedHang {
  CommunicatorKind communicator = CommunicatorKind::kData;
  std::uint32_t kind = 0;
  TimeNs launch = 0;
};

struct PlayedRank {
  std::array<std::vector<PlayedOperation>, kCommunicatorKinds> operations;  // in order of issue
  Intervals compute;
  std::vector<PlayedIdle> idle;
  std::vector<PlayedKernels> kernels;
  std::vector<TimeNs> step_ends;
  std::vector<PlayedHang> hung;
  TimeNs end = 0;  // of the last thing it did
  bool died = false;
};

// O(operations x members + instructions).
std::vector<PlayedRank> Play(const JobPlan& plan, const SimulatedLayout& layout,
                             const SimulatedPrograms& programs, const Chance& chance);

}  // namespace traceinject
