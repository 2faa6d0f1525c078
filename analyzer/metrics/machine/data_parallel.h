// SPDX-License-Identifier: Apache-2.0
// One process that drives several GPUs as torch.nn.DataParallel does: in every step it sends the
// parameters from the first GPU to all others (Broadcast), and adds their gradients up on the first
// one (Reduce). Programs with a process for each GPU, and those that split a model, have AllReduce
// and the like instead.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/model/run.h"

namespace traceinject {

struct DataParallel {
  int gpus = 0;  // with work
  // On the GPU that has fewest of them.
  std::int64_t broadcasts = 0, reductions = 0;
};

// By the names of NCCL's kernels. O(operations) for a process of several GPUs.
std::optional<DataParallel> FindDataParallel(const Rank& rank);

}  // namespace traceinject
