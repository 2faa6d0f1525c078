// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/mark_nccl_copies.h"

#include <algorithm>
#include <vector>

namespace traceinject {
namespace {

// The calls of each thread that launched something, in order of their start.
std::vector<std::vector<std::uint32_t>> LaunchesByThread(const Rank& rank) {
  std::vector<std::vector<std::uint32_t>> of_thread(rank.threads.size());
  for (std::uint32_t row = 0; row < rank.api.size(); ++row) {
    if (rank.api.thread[row] < of_thread.size()) of_thread[rank.api.thread[row]].push_back(row);
  }
  return of_thread;
}

bool LaunchesKernels(ApiClass api_class) {
  return api_class == ApiClass::kLaunch || api_class == ApiClass::kGraphLaunch;
}

// Whether each call is one that copies for an operation of NCCL without a kernel.
std::vector<bool> CopyingCalls(const Rank& rank) {
  const Collectives& calls = rank.collectives;
  std::vector<bool> copying(rank.api.size());
  const auto of_thread = LaunchesByThread(rank);
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    if (calls.thread[call] >= of_thread.size() || calls.plan[call] != kNone) continue;
    const auto& rows = of_thread[calls.thread[call]];
    const auto first = std::lower_bound(
        rows.begin(), rows.end(), calls.start[call],
        [&](std::uint32_t row, TimeNs time) { return rank.api.start[row] < time; });
    auto last = first;
    bool has_kernel = false;
    for (; last != rows.end() && rank.api.start[*last] < calls.end[call]; ++last)
      has_kernel |= LaunchesKernels(rank.api_names[rank.api.name[*last]].api_class);
    if (has_kernel) continue;
    for (auto row = first; row != last; ++row) copying[*row] = true;
  }
  return copying;
}

}  // namespace

void MarkNcclCopies(Rank& rank) {
  if (rank.collectives.size() == 0) return;
  const std::vector<bool> copying = CopyingCalls(rank);
  for (Device& device : rank.devices) {
    GpuOps& ops = device.ops;
    for (std::size_t row = 0; row < ops.size(); ++row) {
      if (ops.kind[row] == OpKind::kMemcpy && ops.launch[row] != kNone && copying[ops.launch[row]])
        ops.kernel_class[row] = KernelClass::kComm;
    }
  }
}

}  // namespace traceinject
