// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/small_kernels.h"

#include <algorithm>
#include <utility>

#include "analyzer/metrics/steps/window.h"

namespace traceinject {
namespace {

void Add(TimeNs length, SmallKernels::Sum& to) {
  ++to.kernels;
  to.total_ns += length;
}

void Add(const SmallKernels::Sum& from, SmallKernels::Sum& to) {
  to.kernels += from.kernels;
  to.total_ns += from.total_ns;
}

}  // namespace

double SmallKernels::share() const {
  return all.total_ns == 0
             ? 0
             : static_cast<double>(small.total_ns) / static_cast<double>(all.total_ns);
}

bool SmallKernels::matter() const {
  const bool waited_for = 2 * at_once > launched;
  return share() >= (waited_for ? kWaitedForSmallShare : kManySmallShare);
}

std::vector<std::string> SmallKernels::LeadingNames(std::size_t most) const {
  std::vector<std::pair<TimeNs, std::string>> names;
  for (const auto& [name, sum] : by_name) names.emplace_back(sum.total_ns, name);
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> leading;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    leading.push_back(std::move(names[i].second));
  return leading;
}

SmallKernels& SmallKernels::operator+=(const SmallKernels& other) {
  Add(other.small, small);
  Add(other.all, all);
  launched += other.launched;
  at_once += other.at_once;
  for (const auto& [name, sum] : other.by_name) Add(sum, by_name[name]);
  steps += other.steps;
  return *this;
}

SmallKernels CountSmallKernels(const Rank& rank, const Device& device, const Intervals& times,
                               std::size_t steps) {
  SmallKernels found;
  found.steps = static_cast<std::int64_t>(steps);
  const GpuOps& ops = device.ops;
  std::vector<SmallKernels::Sum> by_shape(rank.shapes.size());
  for (const Interval& time : times) {
    const OpRange range = StartingIn(ops, time);
    for (std::size_t op = range.begin; op < range.end; ++op) {
      if (ops.kind[op] != OpKind::kKernel || ops.kernel_class[op] == KernelClass::kComm) continue;
      const TimeNs length = ops.end[op] - ops.start[op];
      Add(length, found.all);
      if (ops.launch[op] != kNone) {
        ++found.launched;
        if (ops.start[op] - rank.api.start[ops.launch[op]] < kSmallKernelNs) ++found.at_once;
      }
      if (length >= kSmallKernelNs) continue;
      Add(length, found.small);
      Add(length, by_shape[ops.detail[op]]);
    }
  }
  for (std::size_t shape = 0; shape < by_shape.size(); ++shape) {
    if (by_shape[shape].kernels > 0)
      Add(by_shape[shape], found.by_name[std::string(rank.string(rank.shapes[shape].name))]);
  }
  return found;
}

}  // namespace traceinject
