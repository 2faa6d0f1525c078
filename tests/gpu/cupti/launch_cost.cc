// SPDX-License-Identifier: Apache-2.0
// What one kernel launch costs the thread that makes it. Launches an empty kernel in blocks that
// fit the GPU's queue, so that no launch waits for the GPU, and prints one line: the median, the
// lowest decile and the mean over the blocks, in ns a launch. The lowest decile is what the launch
// costs when nothing else disturbs the machine; the mean tells of what comes and goes.
//
// usage: launch_cost AFTER_S SECONDS [libcudart.so.N]    measures so long, after it launched so
// long; with a runtime library: through cudaLaunchKernel, as PyTorch does; without: cuLaunchKernel
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "empty_kernel.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLaunches = 250;

// ns a launch, block by block.
std::vector<double> Measure(const empty_kernel::Gpu& gpu, double seconds) {
  std::vector<double> ns;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until) {
    const auto begin = Clock::now();
    for (int i = 0; i < kLaunches; ++i) gpu.launch();
    const std::chrono::duration<double, std::nano> spent = Clock::now() - begin;
    gpu.wait();
    ns.push_back(spent.count() / kLaunches);
  }
  return ns;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4 || std::atof(argv[2]) <= 0) {
    std::fprintf(stderr, "usage: launch_cost AFTER_S SECONDS [libcudart.so.N]\n");
    return 2;
  }
  const empty_kernel::Gpu gpu =
      argc == 4 ? empty_kernel::ThroughRuntime(argv[3]) : empty_kernel::ThroughDriver();
  Measure(gpu, std::atof(argv[1]));
  std::vector<double> ns = Measure(gpu, std::atof(argv[2]));
  std::sort(ns.begin(), ns.end());
  std::printf("%.1f %.1f %.1f\n", ns[ns.size() / 2], ns[ns.size() / 10],
              std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size()));
}
