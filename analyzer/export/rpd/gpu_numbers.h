// SPDX-License-Identifier: Apache-2.0
// Numbers of machines and of the GPUs in them, for formats that number those of a whole job. CUDA
// counts the GPUs of a process, and each rank of a job may see its own as number 0.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

class GpuNumbers {
 public:
  // O(devices log devices).
  explicit GpuNumbers(const Run& run);

  // From 0, in the order of the ranks.
  int NodeOf(std::size_t rank) const { return nodes_[rank]; }
  // Of run.ranks[rank].devices[device] in its machine. CUDA's own number, unless two GPUs of the
  // machine have it.
  int GpuOf(std::size_t rank, std::size_t device) const { return gpus_[rank][device]; }

 private:
  std::vector<int> nodes_;              // by rank
  std::vector<std::vector<int>> gpus_;  // by rank and device
};

}  // namespace traceinject
