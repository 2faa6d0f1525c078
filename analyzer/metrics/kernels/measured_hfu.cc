// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/measured_hfu.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>

#include "analyzer/model/kernel_traits.h"

namespace traceinject {
namespace {

constexpr int kHopper = 9;

KernelTraits TraitsOfKernel(const Rank& rank, const KernelCounters& kernel) {
  return TraitsOf(rank.string(kernel.name), rank.shapes[kernel.shape].kernel_class);
}

// Of a busy cycle, at the full rate.
double RateOf(const Rank& rank, const Device& device, const KernelCounters& kernel) {
  if (device.cc_major.value_or(0) < kHopper) return 1;
  return TraitsOfKernel(rank, kernel).warp_products ? kWarpRate : 1;
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

// How long kernels of each name ran that belong to recorded calls.
using CalledNs = std::unordered_map<std::uint32_t, TimeNs>;

CalledNs NsOfCalls(const Device& device, const Rank& rank, const LibraryCalls& calls,
                   const OpRanges& ranges) {
  CalledNs ns;
  const GpuOps& ops = device.ops;
  for (const OpRange& range : ranges) {
    for (std::size_t op = range.begin; op < range.end; ++op) {
      if (ops.kind[op] != OpKind::kKernel || ops.launch[op] == kNone) continue;
      const bool is_called = calls.ProductOf(ops.launch[op]) != kNone ||
                             calls.attentions().Of(ops.launch[op], ops.kernel_class[op]) != kNone;
      if (is_called) ns[rank.shapes[ops.detail[op]].name] += ops.end[op] - ops.start[op];
    }
  }
  return ns;
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
                                      const LibraryCalls& calls, const OpRanges& ranges,
                                      TimeNs times_ns, const HfuSources& sources) {
  const auto all = BusyAtRated(sources.counters, sources.busy_by_rated);
  if (!all || times_ns <= 0) return std::nullopt;
  const auto all_ns = static_cast<double>(times_ns);
  const CalledNs called = NsOfCalls(device, rank, calls, ranges);
  double by_counter = all->share, squares = 0;
  double of_calls = 0, called_time = 0, unknown_time = 0;
  // Of kernels outside of calls, as far as their names do not tell that they use no tensor cores.
  double most_of_others = 0;
  for (const KernelCounters& kernel : sources.kernels) {
    const auto busy = BusyAtRated(kernel, sources.busy_by_rated);
    if (!TraitsOfKernel(rank, kernel).tensor_cores.value_or(true)) {
      // Vectors of 16 bits go through the same pipe: no products.
      if (busy) by_counter -= busy->share * static_cast<double>(kernel.ns) / all_ns;
      continue;
    }
    const auto found = called.find(kernel.name);
    const TimeNs called_ns = found == called.end() ? 0 : std::min(found->second, kernel.ns);
    const double in_calls = static_cast<double>(called_ns) / all_ns;
    const double outside = static_cast<double>(kernel.ns - called_ns) / all_ns;
    if (!busy) {
      unknown_time += in_calls;
      most_of_others += outside;
      continue;
    }
    const double rate = RateOf(rank, device, kernel);
    by_counter -= (1 - rate) * busy->share * (in_calls + outside);
    called_time += in_calls;
    of_calls += rate * busy->share * in_calls;
    squares += rate * busy->error * in_calls * rate * busy->error * in_calls;
    most_of_others += rate * std::min(1.0, busy->share + 2 * busy->error) * outside;
  }
  // Of kernels without a figure of their own.
  if (called_time > 0) of_calls += of_calls / called_time * unknown_time;
  MeasuredHfu found;
  found.counter_share = std::max(0.0, by_counter);
  found.counted_share = sources.counted_share.value_or(0);
  const double rest = sources.counted_share ? std::clamp(by_counter - of_calls, 0.0, most_of_others)
                                            : found.counter_share;
  found.share = found.counted_share + rest;
  found.error = std::hypot(std::sqrt(squares), all->error, kBusyCycleError * rest);
  if (sources.counted_share && of_calls > 0)
    found.shapes_by_counter = found.counted_share / of_calls;
  return found;
}

}  // namespace traceinject
