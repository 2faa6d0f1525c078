// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/kernel_savings.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analyzer/common/parallel.h"
#include "analyzer/metrics/what_if/attention_savings.h"
#include "analyzer/metrics/what_if/clock_savings.h"
#include "analyzer/metrics/what_if/fusion_savings.h"
#include "analyzer/metrics/what_if/product_savings.h"
#include "analyzer/model/calls/library_calls.h"

namespace traceinject {
namespace {

std::vector<TimeNs> SavedInSteps(const GpuOps& ops, const Steps& steps,
                                 const std::vector<OpLength>& lengths) {
  std::vector<TimeNs> saved(steps.steps.size());
  std::size_t step = 0;
  for (const OpLength& length : lengths) {
    const TimeNs start = ops.start[length.row];
    while (step < saved.size() && steps.steps[step].time.end <= start) ++step;
    if (step == saved.size()) break;
    saved[step] += ops.end[length.row] - start - length.length_ns;
  }
  return saved;
}

}  // namespace

void SortByRow(std::vector<OpLength>& lengths, std::size_t first) {
  const auto begin = lengths.begin() + static_cast<std::ptrdiff_t>(first);
  const auto by_row = [](const OpLength& a, const OpLength& b) { return a.row < b.row; };
  if (!std::is_sorted(begin, lengths.end(), by_row)) std::sort(begin, lengths.end(), by_row);
}

OpRange OpsOfSteps(const GpuOps& ops, const Steps& steps) {
  if (steps.steps.empty()) return {0, 0};
  return StartingIn(ops, {steps.start_ns, steps.steps.back().time.end});
}

std::vector<KernelSaving> FindKernelSavings(const Rank& rank, const Device& device,
                                            const Steps& steps, double least_share) {
  const OpRange range = OpsOfSteps(device.ops, steps);
  const LibraryCalls calls(rank);
  ProductSavings products;
  KernelSaving attention, fusion, clock;
  RunInParallel({[&] { products = FindProductSavings(rank, device, calls, range); },
                 [&] { attention = FindAttentionSaving(rank, device, calls, range); },
                 [&] { fusion = FindFusionSaving(rank, device, range); },
                 [&] { clock = FindClockSaving(device, range); }});
  std::vector<KernelSaving> found;
  for (KernelSaving* one :
       {&products.low_precision, &products.inefficient, &attention, &fusion, &clock}) {
    KernelSaving& saving = *one;
    if (saving.lengths.empty()) continue;
    saving.saved_ns = SavedInSteps(device.ops, steps, saving.lengths);
    TimeNs saved = 0, whole = 0;
    for (const TimeNs of_step : saving.saved_ns) saved += of_step;
    for (const Step& step : steps.steps) whole += step.length_ns();
    if (static_cast<double>(saved) >= least_share * static_cast<double>(whole))
      found.push_back(std::move(saving));
  }
  return found;
}

}  // namespace traceinject
