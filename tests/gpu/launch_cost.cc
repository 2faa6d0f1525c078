// SPDX-License-Identifier: Apache-2.0
// What one kernel launch costs the thread that makes it. Launches an empty kernel in blocks that
// fit the GPU's queue, so that no launch waits for the GPU, and prints one line: the median and the
// lowest decile over the blocks, in ns a launch. The lowest decile is what the launch costs when
// nothing else disturbs the machine.
//
// usage: launch_cost [libcudart.so.N]    with a runtime library: through cudaLaunchKernel, as
// PyTorch does; without: cuLaunchKernel
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "empty_kernel.h"

namespace {

constexpr int kBlocks = 400, kWarmUp = 40, kLaunches = 250;

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::fprintf(stderr, "usage: launch_cost [libcudart.so.N]\n");
    return 2;
  }
  const empty_kernel::Gpu gpu =
      argc == 2 ? empty_kernel::ThroughRuntime(argv[1]) : empty_kernel::ThroughDriver();
  std::vector<double> ns;
  for (int block = 0; block < kWarmUp + kBlocks; ++block) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) gpu.launch();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    gpu.wait();
    if (block >= kWarmUp) ns.push_back(spent.count() / kLaunches);
  }
  std::sort(ns.begin(), ns.end());
  std::printf("%.1f %.1f\n", ns[ns.size() / 2], ns[ns.size() / 10]);
}
