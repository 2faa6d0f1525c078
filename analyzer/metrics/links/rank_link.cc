// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/rank_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/metrics/gpu/gpu_specs.h"

namespace traceinject {
namespace {

constexpr std::string_view kNoRate = "the rate of the network is not recorded";
constexpr std::string_view kNotTold =
    "the NCCL transport was not recorded (set TRACEINJECT_NCCL_LOG=1)";

// What the large operations add up to.
struct LargeOperations {
  double bus_bytes = 0;
  TimeNs kernel_ns = 0;
  TimeNs transfer_ns = 0;
  bool transfer_known = true;
  bool nvls = false;
  std::set<std::uint32_t> communicators;
};

LargeOperations Collect(const NcclLinks& launches, const Intervals& windows) {
  LargeOperations found;
  for (const NcclLaunch& launch : launches.launches) {
    const std::optional<double> factor = BusFactor(launch.function, launch.communicator_size);
    const bool counts = Contains(windows, launch.start) &&
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

NcclTransport WayOf(const NcclLink& link) {
  if (!link.network.empty())
    return link.network == "Socket" ? NcclTransport::kSockets : NcclTransport::kNetwork;
  if (link.transport == "SHM") return NcclTransport::kHostMemory;
  return link.transport == "P2P" ? NcclTransport::kGpuToGpu : NcclTransport::kUnknown;
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
    return fact.kind == "env" && !fact.value.empty() && traceinject::LimitsP2p(fact.key);
  });
}

bool OnOneHost(const Rank& rank, const std::set<std::uint32_t>& communicators) {
  return std::all_of(communicators.begin(), communicators.end(),
                     [&](std::uint32_t index) { return rank.communicators[index].nodes == 1; });
}

ExpectedLink Nvlink(const LinkFacts& facts) {
  if (facts.nvlink_gb_per_s > 0) return {"NVLink", facts.nvlink_gb_per_s};
  return {"NVLink", std::nullopt, fmt::format("the NVLink rate of '{}' is not known", facts.gpu)};
}

ExpectedLink ByHost(const LinkFacts& facts, std::string_view by) {
  if (facts.host) return {facts.host->name + std::string(by), facts.host->gb_per_s};
  return {"PCIe" + std::string(by), std::nullopt, "link generation and width were not recorded"};
}

ExpectedLink Network(const LinkFacts& facts) {
  if (facts.network_gb_per_s > 0) return {"InfiniBand or RoCE", facts.network_gb_per_s};
  return {"InfiniBand or RoCE", std::nullopt, std::string(kNoRate)};
}

const std::string* FactOf(const Rank& rank, std::string_view kind, std::string_view key) {
  for (const SystemFact& fact : rank.facts) {
    if (fact.kind == kind && fact.key == key) return &fact.value;
  }
  return nullptr;
}

// GB/s of a port that NCCL calls "mlx5_0:1/RoCE"; 0: not active, or its rate is not known.
double PortRate(const Rank& rank, std::string_view port) {
  std::string key(port.substr(0, port.find('/')));
  if (const std::size_t colon = key.find(':'); colon != std::string::npos) key[colon] = '.';
  // "ACTIVE, 400 Gb/sec (4X NDR), InfiniBand"
  constexpr std::string_view kActive = "ACTIVE, ", kUnit = " Gb/sec";
  const std::string* const fact = FactOf(rank, "infiniband", key);
  if (fact == nullptr || !fact->starts_with(kActive)) return 0;
  char* end = nullptr;
  const double gb_per_s = std::strtod(fact->c_str() + kActive.size(), &end) / 8;
  return std::string_view(end).starts_with(kUnit) && gb_per_s > 0 ? gb_per_s : 0;
}

}  // namespace

NcclTransport SlowestWay(const Rank& rank, const std::set<std::uint32_t>& communicators) {
  NcclTransport slowest = NcclTransport::kUnknown;
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

double NetworkRate(const Rank& rank, std::uint32_t communicator) {
  std::set<std::pair<std::string, int>> adapters;
  for (const NcclLink& link : rank.nccl_links) {
    if (link.sends && link.net_device && link.setup != kNone &&
        rank.nccl_setups[link.setup].communicator == communicator)
      adapters.emplace(link.network, *link.net_device);
  }
  double sum = 0;
  for (const auto& [network, number] : adapters) {
    const std::string* const name = FactOf(rank, "nccl_net", fmt::format("{}.{}", network, number));
    const double rate = name == nullptr ? 0 : PortRate(rank, *name);
    if (rate <= 0) return 0;
    sum += rate;
  }
  return sum;
}

bool LimitsP2p(std::string_view setting) { return setting.starts_with("NCCL_P2P_"); }

ExpectedLink LinkBetween(const LinkFacts& facts) {
  switch (facts.way) {
    case NcclTransport::kSockets:
      return {"TCP sockets", std::nullopt, std::string(kNoRate)};
    case NcclTransport::kNetwork:
      return Network(facts);
    case NcclTransport::kHostMemory:
      return ByHost(facts, " via host memory");
    case NcclTransport::kGpuToGpu:
      return facts.nvlink ? Nvlink(facts) : ByHost(facts, "");
    case NcclTransport::kUnknown:
      break;
  }
  if (!facts.nvlink || !facts.one_host || facts.limits_p2p)
    return {"", std::nullopt, std::string(kNotTold)};
  ExpectedLink link = Nvlink(facts);
  if (link.reason.empty())
    link.reason = fmt::format("inferred from the GPU's links, as {}", kNotTold);
  return link;
}

std::optional<RankLink> FindRankLink(const Rank& rank, const Device& device,
                                     const NcclLinks& launches, const Intervals& windows,
                                     const std::optional<HostLink>& host) {
  const LargeOperations large = Collect(launches, windows);
  if (large.communicators.empty()) return std::nullopt;
  RankLink found;
  found.waiting_included = !large.transfer_known;
  const TimeNs time = large.transfer_known ? large.transfer_ns : large.kernel_ns;
  found.busbw_gb_per_s = large.bus_bytes / static_cast<double>(time);
  found.nvls = large.nvls;
  const ExpectedLink link = LinkBetween({.way = SlowestWay(rank, large.communicators),
                                         .nvlink = HasNvlink(rank, device),
                                         .nvlink_gb_per_s = NvlinkRate(rank, device),
                                         .gpu = device.name,
                                         .one_host = OnOneHost(rank, large.communicators),
                                         .limits_p2p = LimitsP2p(rank),
                                         .host = host});
  found.name = link.name;
  found.link_gb_per_s = link.gb_per_s;
  found.reason = found.is_above_link() ? std::string(kAboveLink) : link.reason;
  return found;
}

}  // namespace traceinject
