// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/step_flops.h"

#include "analyzer/metrics/attention.h"
#include "analyzer/metrics/matrix_products.h"
#include "analyzer/metrics/steps.h"

namespace traceinject {

std::optional<double> FlopsPerStep(const Rank& rank, const Device& device, Interval window,
                                   const StepPattern* pattern) {
  if (rank.gemms.size() + rank.attentions.size() == 0) return std::nullopt;
  const Steps steps = FindSteps(rank, device, window, pattern);
  if (steps.source == StepSource::kWindow || steps.steps.empty()) return std::nullopt;
  const Interval time{steps.steps.front().time.start, steps.steps.back().time.end};
  const OpRange range = StartingIn(device.ops, time);
  const double flops = CountMatrixProducts(rank, device, range, time).flops +
                       CountAttention(rank, device, range, time).flops;
  return flops / static_cast<double>(steps.steps.size());
}

}  // namespace traceinject
