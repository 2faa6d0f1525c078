// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/host_link.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "analyzer/metrics/gpu/gpu_specs.h"

namespace traceinject {
namespace {

// GB/s of a lane in one direction, by generation: transfers per second less the line code.
constexpr std::array<double, 7> kLaneGbPerS = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
// Between Grace and its GPU; NVIDIA prints 900 for both directions.
constexpr double kC2cGbPerS = 450;

HostLink Pcie(int generation, int width) {
  return {fmt::format("PCIe {}.0 x{}", generation, width),
          kLaneGbPerS[static_cast<std::size_t>(generation)] * width};
}

}  // namespace

std::optional<HostLink> HostLinkOf(const Device& device,
                                   const std::optional<Telemetry>& telemetry) {
  if (const GpuSpec* spec = FindGpuSpec(device.name)) {
    for (const std::string_view grace : {"GH200", "GB200", "GB300"}) {
      if (spec->title == grace) return HostLink{"NVLink C2C", kC2cGbPerS};
    }
  }
  if (!telemetry || !telemetry->pcie_generation || !telemetry->pcie_width) return std::nullopt;
  const int generation = *telemetry->pcie_generation, width = *telemetry->pcie_width;
  if (generation < 1 || generation >= static_cast<int>(kLaneGbPerS.size()) || width < 1)
    return std::nullopt;
  return Pcie(generation, width);
}

std::optional<HostLink> LinkToAssume(const Device& device, const std::optional<HostLink>& known) {
  if (known || !device.cc_major) return known;
  return Pcie(*device.cc_major >= 9 ? 5 : *device.cc_major == 8 ? 4 : 3, 16);
}

}  // namespace traceinject
