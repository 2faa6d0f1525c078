// SPDX-License-Identifier: Apache-2.0
// How fast large NCCL operations of a device went, against the link between the ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/metrics/gpu/host_link.h"
#include "analyzer/metrics/links/collectives.h"
#include "analyzer/model/run.h"

namespace traceinject {

// From this size on an operation should come near to the rate of the link.
inline constexpr std::int64_t kLargeMessageBytes = 8 << 20;
// Why a busbw above the rate of the link is no share of it.
inline constexpr std::string_view kAboveLink =
    "above the link rate: switches do the reduction, or not all traffic uses this link";

// The ways in which NCCL connects ranks, by what they can carry, the most first.
enum class NcclTransport : std::uint8_t { kUnknown, kGpuToGpu, kHostMemory, kNetwork, kSockets };

// The slowest by which NCCL's log says that this rank is connected in these communicators (rows of
// Rank::communicators). O(links).
NcclTransport SlowestWay(const Rank& rank, const std::set<std::uint32_t>& communicators);
// Published rate of the GPU's NVLink in one direction, GB/s; 0: none is active, or it is not known.
double NvlinkRate(const Rank& rank, const Device& device);

// What the host of the rank can send through the adapters that NCCL's log says this rank sends
// through in a communicator, GB/s: the rates of their active InfiniBand or RoCE ports. 0: none, or
// not all are known. O(links x facts).
double NetworkRate(const Rank& rank, std::uint32_t communicator);
// Whether a setting NAME (or NAME=VALUE) of the environment limits the ways NCCL may take on a
// host.
bool LimitsP2p(std::string_view setting);

// What tells the link between the ranks of a communicator.
struct LinkFacts {
  NcclTransport way = NcclTransport::kUnknown;  // the slowest
  bool nvlink = false;                          // the GPUs have active links
  double nvlink_gb_per_s = 0;                   // published; 0: not known
  std::string_view gpu;                         // its name
  bool one_host = false;                        // all ranks are on one
  bool limits_p2p = false;                      // LimitsP2p() of the environment
  std::optional<HostLink> host = std::nullopt;
  double network_gb_per_s = 0;  // of a host; 0: not known
};

struct ExpectedLink {
  std::string name;  // "NVLink", "PCIe 5.0 x16", "TCP sockets"; empty: see reason
  std::optional<double> gb_per_s = std::nullopt;  // published, in one direction
  std::string reason = {};  // why link or rate are unknown, or how sure they are
};
ExpectedLink LinkBetween(const LinkFacts& facts);

struct RankLink {
  double busbw_gb_per_s = 0;      // of all large operations that every rank enters
  bool waiting_included = false;  // over kernel time: a lower bound
  std::string name;               // as ExpectedLink
  std::optional<double> link_gb_per_s = std::nullopt;
  std::string reason = {};
  bool nvls = false;  // some by NVLink SHARP, whose busbw is no rate on the link

  // More than the link can carry went elsewhere, unless switches add up.
  bool is_above_link() const { return link_gb_per_s && !nvls && busbw_gb_per_s > *link_gb_per_s; }
  std::optional<double> link_share() const {
    if (!link_gb_per_s || is_above_link()) return std::nullopt;
    return busbw_gb_per_s / *link_gb_per_s;
  }
};

// Of the launches that start in the windows. The link is the slowest that NCCL's log tells for
// their communicators; where it was not recorded, that which the links of the GPU and the number of
// hosts leave. Empty: there is no large operation of known size and communicator. O(launches +
// links).
std::optional<RankLink> FindRankLink(const Rank& rank, const Device& device,
                                     const NcclLinks& launches, const Intervals& windows,
                                     const std::optional<HostLink>& host);

}  // namespace traceinject
