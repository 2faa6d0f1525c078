// SPDX-License-Identifier: Apache-2.0
// Prints how many kernels each GPU of a recording ran.
#include <cstdio>

#include "analyzer/import/load/load_run.h"

int main(int argc, char** argv) {
  const auto run = traceinject::LoadRun({argv + 1, argv + argc}, {});
  if (!run.ok()) {
    std::fprintf(stderr, "%s\n", run.error().c_str());
    return 1;
  }
  for (const auto& rank : run.value().ranks) {
    for (const auto& device : rank.devices) {
      std::size_t kernels = 0;
      for (std::size_t row = 0; row < device.ops.size(); ++row)
        kernels += device.ops.kind[row] == traceinject::OpKind::kKernel;
      std::printf("GPU %d: %zu kernels\n", device.ordinal, kernels);
    }
  }
  return 0;
}
