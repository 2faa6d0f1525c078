// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/rank_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "analyzer/metrics/gpu_specs.h"

namespace traceinject {
namespace {

constexpr std::string_view kNotTold =
    "which way NCCL took was not recorded (TRACEINJECT_NCCL_LOG=1 tells)";

// What the large operations add up to.
struct LargeOperations {
  double bus_bytes = 0;
  TimeNs kernel_ns = 0;
  TimeNs transfer_ns = 0;
  bool transfer_known = true;
  bool nvls = false;
  std::set<std::uint32_t> communicators;
};

LargeOperations Collect(const NcclLinks& launches, Interval window) {
  LargeOperations found;
  for (const NcclLaunch& launch : launches.launches) {
    const std::optional<double> factor = BusFactor(launch.function, launch.communicator_size);
    const bool counts = launch.start >= window.start && launch.start < window.end &&
                        launch.bytes.value_or(0) >= kLargeMessageBytes && factor &&
                        launch.communicator != kNone && launch.kernel_ns > 0 &&
                        WaitsForAllRanks(launch.function);
    if (!counts) continue;
    found.bus_bytes += static_cast<double>(*launch.bytes) * *factor;
    found.kernel_ns += launch.kernel_ns;
    found.transfer_ns += launch.transfer_ns.value_or(0);
    found.transfer_known &= launch.transfer_ns.value_or(0) > 0;
    found.nvls |= launch.algorithm.find("NVLS") != std::string::npos;
    found.communicators.insert(launch.communicator);
  }
  return found;
}

NcclWay WayOf(const NcclLink& link) {
  if (!link.network.empty())
    return link.network == "Socket" ? NcclWay::kSockets : NcclWay::kNetwork;
  if (link.transport == "SHM") return NcclWay::kHostMemory;
  return link.transport == "P2P" ? NcclWay::kGpuToGpu : NcclWay::kUnknown;
}

bool HasNvlink(const Rank& rank, const Device& device) {
  const std::string prefix = fmt::format("{}.", device.ordinal);
  return std::any_of(rank.facts.begin(), rank.facts.end(), [&](const SystemFact& fact) {
    return fact.kind == "nvlink" && fact.key.starts_with(prefix) &&
           fact.value.starts_with("active");
  });
}

// What the program said to NCCL about the ways it may take.
bool LimitsP2p(const Rank& rank) {
  return std::any_of(rank.facts.begin(), rank.facts.end(), [](const SystemFact& fact) {
    return fact.kind == "env" && fact.key.starts_with("NCCL_P2P_") && !fact.value.empty();
  });
}

bool OnOneHost(const Rank& rank, const std::set<std::uint32_t>& communicators) {
  return std::all_of(communicators.begin(), communicators.end(),
                     [&](std::uint32_t index) { return rank.communicators[index].nodes == 1; });
}

void SetNvlink(const Device& device, RankLink& to) {
  to.name = "NVLink";
  const GpuSpec* spec = FindGpuSpec(device.name);
  if (spec != nullptr && spec->nvlink_gb_per_s > 0) {
    to.link_gb_per_s = spec->nvlink_gb_per_s;
  } else {
    to.reason = fmt::format("the NVLink rate of '{}' is not in the table of GPUs", device.name);
  }
}

void SetHost(const std::optional<HostLink>& host, std::string_view by, RankLink& to) {
  to.name = host ? host->name : "PCIe";
  to.name += by;
  if (host) {
    to.link_gb_per_s = host->gb_per_s;
  } else {
    to.reason = "generation and width of the link were not recorded";
  }
}

void SetLink(const Rank& rank, const Device& device, const LargeOperations& large,
             const std::optional<HostLink>& host, RankLink& to) {
  constexpr std::string_view kNoRate = "the rate of the network is not recorded";
  const NcclWay way = SlowestWay(rank, large.communicators);
  if (way == NcclWay::kSockets || way == NcclWay::kNetwork) {
    to.name = way == NcclWay::kSockets ? "TCP sockets" : "InfiniBand or RoCE";
    to.reason = kNoRate;
  } else if (way == NcclWay::kHostMemory) {
    SetHost(host, " by way of the host's memory", to);
  } else if (way == NcclWay::kGpuToGpu) {
    HasNvlink(rank, device) ? SetNvlink(device, to) : SetHost(host, "", to);
  } else if (HasNvlink(rank, device) && OnOneHost(rank, large.communicators) && !LimitsP2p(rank)) {
    SetNvlink(device, to);
    if (to.reason.empty())
      to.reason = fmt::format("taken from the links of the GPU, as {}", kNotTold);
  } else {
    to.reason = kNotTold;
  }
}

}  // namespace

NcclWay SlowestWay(const Rank& rank, const std::set<std::uint32_t>& communicators) {
  NcclWay slowest = NcclWay::kUnknown;
  for (const NcclLink& link : rank.nccl_links) {
    if (link.setup != kNone && communicators.contains(rank.nccl_setups[link.setup].communicator))
      slowest = std::max(slowest, WayOf(link));
  }
  return slowest;
}

double NvlinkRate(const Rank& rank, const Device& device) {
  const GpuSpec* const spec = HasNvlink(rank, device) ? FindGpuSpec(device.name) : nullptr;
  return spec == nullptr ? 0 : spec->nvlink_gb_per_s;
}

std::optional<RankLink> FindRankLink(const Rank& rank, const Device& device,
                                     const NcclLinks& launches, Interval window,
                                     const std::optional<HostLink>& host) {
  const LargeOperations large = Collect(launches, window);
  if (large.communicators.empty()) return std::nullopt;
  RankLink found;
  found.waiting_included = !large.transfer_known;
  const TimeNs time = large.transfer_known ? large.transfer_ns : large.kernel_ns;
  found.busbw_gb_per_s = large.bus_bytes / static_cast<double>(time);
  found.nvls = large.nvls;
  SetLink(rank, device, large, host, found);
  return found;
}

}  // namespace traceinject
