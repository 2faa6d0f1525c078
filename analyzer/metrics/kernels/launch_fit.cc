// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/launch_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "analyzer/metrics/gpu/gpu_specs.h"

namespace traceinject {
namespace {

std::int64_t RoundUp(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::int64_t Product(const std::int32_t (&sizes)[3]) {
  std::int64_t product = 1;
  for (const std::int32_t size : sizes) {
    // No launch has more than 2^31 x 2^16 x 2^16 blocks.
    if (size <= 0 || product > (std::int64_t{1} << 62) / size) return 0;
    product *= size;
  }
  return product;
}

// Registers are given to warps, out of those of the quarter of the SM that a warp runs on.
std::int64_t BlocksByRegisters(int registers, std::int64_t warps) {
  const std::int64_t per_warp = RoundUp(std::int64_t{registers} * kWarpThreads, kRegisterUnit);
  return kSmRegisters / kSmQuarters / per_warp * kSmQuarters / warps;
}

}  // namespace

std::optional<LaunchFit> FitLaunch(const KernelShape& shape, const Device& device) {
  if (!device.cc_major || !device.cc_minor) return std::nullopt;
  const SmLimits* limits = FindSmLimits(*device.cc_major, *device.cc_minor);
  const std::int64_t blocks = Product(shape.grid), threads = Product(shape.block);
  const std::int64_t shared_bytes = shape.static_shared_bytes + shape.dynamic_shared_bytes;
  if (limits == nullptr || blocks == 0 || threads == 0 || shared_bytes < 0) return std::nullopt;
  const std::int64_t warps = (threads + kWarpThreads - 1) / kWarpThreads;
  using Limit = std::pair<std::int64_t, std::string_view>;
  std::array<Limit, 4> by = {{{limits->threads / (warps * kWarpThreads), "threads"},
                              {limits->blocks, "blocks"},
                              {limits->blocks, "registers"},
                              {limits->blocks, "shared memory"}}};
  if (shape.registers > 0) by[2].first = BlocksByRegisters(shape.registers, warps);
  if (shared_bytes + limits->reserved_shared_bytes > 0)
    by[3].first = limits->shared_bytes /
                  RoundUp(shared_bytes + limits->reserved_shared_bytes, limits->shared_unit_bytes);
  const Limit least = *std::min_element(
      by.begin(), by.end(), [](const Limit& a, const Limit& b) { return a.first < b.first; });
  if (least.first <= 0) return std::nullopt;
  LaunchFit fit;
  fit.blocks_per_sm = static_cast<int>(least.first);
  fit.limited_by = least.second;
  fit.occupancy = static_cast<double>(least.first * warps * kWarpThreads) / limits->threads;
  if (device.sm_count.value_or(0) > 0) {
    const double waves = static_cast<double>(blocks) /
                         (static_cast<double>(least.first) * static_cast<double>(*device.sm_count));
    fit.waves = waves;
    fit.tail_loss = 1 - waves / std::ceil(waves);
  }
  return fit;
}

}  // namespace traceinject
