// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/kernel_times.h"

#include <algorithm>

#include "analyzer/metrics/steps/window.h"

namespace traceinject {
namespace {

KernelKey KeyOf(const Rank& rank, const KernelShape& shape) {
  KernelKey key;
  key.name = rank.string(shape.name);
  std::copy_n(shape.grid, 3, key.grid.begin());
  std::copy_n(shape.block, 3, key.block.begin());
  return key;
}

}  // namespace

KernelsOfSteps TimesOfKernels(const ComparedRun& side) {
  KernelsOfSteps found;
  const Device* device = side.model();
  const std::optional<TimeNs> origin = RunOrigin(*side.run);
  if (device == nullptr || !origin || side.steps.empty()) return found;
  found.groups = std::min(side.steps.size(), kMaxGroups);
  // How many steps are in each group.
  std::vector<double> sizes(found.groups);
  // By index of the shape, so that names are looked up once.
  std::vector<KernelTimes*> by_shape(side.rank()->shapes.size());
  const GpuOps& ops = device->ops;
  for (std::size_t i = 0; i < side.steps.size(); ++i) {
    const proto::StepSplit& step = side.step(side.steps[i]);
    const TimeNs start = *origin + step.start_ns();
    const std::size_t group = i * found.groups / side.steps.size();
    ++sizes[group];
    const OpRange range = StartingIn(ops, {start, start + step.length_ns()});
    for (std::size_t op = range.begin; op < range.end; ++op) {
      if (ops.kind[op] != OpKind::kKernel) continue;
      KernelTimes*& times = by_shape[ops.detail[op]];
      if (times == nullptr) {
        times = &found.kernels[KeyOf(*side.rank(), side.rank()->shapes[ops.detail[op]])];
        times->kernel_class = ops.kernel_class[op];
        times->step_ns.resize(found.groups);
      }
      const TimeNs length = ops.end[op] - ops.start[op];
      ++times->launches;
      times->total_ns += length;
      times->step_ns[group] += static_cast<double>(length);
    }
  }
  for (auto& [key, times] : found.kernels) {
    for (std::size_t group = 0; group < found.groups; ++group) times.step_ns[group] /= sizes[group];
  }
  return found;
}

}  // namespace traceinject
