// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/measured_hfu.h"

#include <algorithm>
#include <cmath>

#include "analyzer/model/kernel_traits.h"

namespace traceinject {
namespace {

constexpr int kHopper = 9;

// Of a busy cycle, at the full rate.
double RateOf(const Rank& rank, const Device& device, const KernelCounters& kernel) {
  if (device.cc_major.value_or(0) < kHopper) return 1;
  const KernelTraits traits =
      TraitsOf(rank.string(kernel.name), rank.shapes[kernel.shape].kernel_class);
  return traits.warp_products ? kWarpRate : 1;
}

std::optional<CounterShare> BusyAtRated(const DeviceCounters& counters,
                                        std::optional<double> busy_by_rated) {
  if (counters.tensor_at_rated) return counters.tensor_at_rated;
  std::optional<double> tensor = counters.mean(CounterId::kTensorActive);
  if (!tensor) tensor = counters.mean(CounterId::kTensorHmma);
  if (!tensor || !busy_by_rated) return std::nullopt;
  return CounterShare{CounterId::kTensorActive, *tensor * *busy_by_rated, 0};
}

const CounterShare* TensorOf(const KernelCounters& kernel) {
  for (const CounterId id : {CounterId::kTensorActive, CounterId::kTensorHmma}) {
    for (const CounterShare& one : kernel.values) {
      if (one.id == id) return &one;
    }
  }
  return nullptr;
}

std::optional<CounterShare> BusyAtRated(const KernelCounters& kernel,
                                        std::optional<double> busy_by_rated) {
  if (kernel.tensor_at_rated) return kernel.tensor_at_rated;
  const CounterShare* tensor = TensorOf(kernel);
  if (tensor == nullptr || !busy_by_rated) return std::nullopt;
  return CounterShare{tensor->id, tensor->share * *busy_by_rated, tensor->error * *busy_by_rated};
}

}  // namespace

std::optional<CounterShare> TensorUseOf(const Rank& rank, const Device& device,
                                        const KernelCounters& kernel,
                                        std::optional<double> busy_by_rated) {
  const auto busy = BusyAtRated(kernel, busy_by_rated);
  if (!busy) return std::nullopt;
  const double rate = RateOf(rank, device, kernel);
  return CounterShare{busy->id, busy->share * rate, busy->error * rate};
}

std::optional<MeasuredHfu> MeasureHfu(const Rank& rank, const Device& device,
                                      const DeviceCounters& counters,
                                      const std::vector<KernelCounters>& kernels,
                                      const KernelWorks& works, TimeNs times_ns,
                                      std::optional<double> busy_by_rated) {
  const auto all = BusyAtRated(counters, busy_by_rated);
  if (!all || times_ns <= 0) return std::nullopt;
  const auto all_ns = static_cast<double>(times_ns);
  double by_counter = all->share, counted = 0, counted_by_counter = 0, squares = 0;
  for (const KernelCounters& kernel : kernels) {
    const auto busy = BusyAtRated(kernel, busy_by_rated);
    if (!busy) continue;
    const double rate = RateOf(rank, device, kernel);
    by_counter -= (1 - rate) * busy->share * static_cast<double>(kernel.ns) / all_ns;
    const auto work = works.find(kernel.name);
    if (work == works.end() || !work->second.peak_ns || work->second.known_ns <= 0) continue;
    const auto known_ns = static_cast<double>(std::min(work->second.known_ns, kernel.ns));
    counted += *work->second.peak_ns * known_ns / static_cast<double>(work->second.known_ns);
    counted_by_counter += rate * busy->share * known_ns;
    const double error_ns = rate * busy->error * known_ns;
    squares += error_ns * error_ns;
  }
  MeasuredHfu found;
  found.counter_share = std::max(0.0, by_counter);
  found.counted_share = counted / all_ns;
  const double rest = std::max(0.0, by_counter - counted_by_counter / all_ns);
  found.share = found.counted_share + rest;
  found.error = std::hypot(std::sqrt(squares) / all_ns, all->error, kBusyCycleError * rest);
  if (counted_by_counter > 0) found.shapes_by_counter = counted / counted_by_counter;
  return found;
}

}  // namespace traceinject
