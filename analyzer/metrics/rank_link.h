// SPDX-License-Identifier: Apache-2.0
// How fast large NCCL operations of a device went, against the link between the ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "analyzer/metrics/collectives.h"
#include "analyzer/metrics/host_link.h"
#include "analyzer/model/run.h"

namespace traceinject {

// From this size on an operation should come near to the rate of the link.
inline constexpr std::int64_t kLargeMessageBytes = 8 << 20;

// The ways in which NCCL connects ranks, by what they can carry, the most first.
enum class NcclWay : std::uint8_t { kUnknown, kGpuToGpu, kHostMemory, kNetwork, kSockets };

// The slowest by which NCCL's log says that this rank is connected in these communicators (rows of
// Rank::communicators). O(links).
NcclWay SlowestWay(const Rank& rank, const std::set<std::uint32_t>& communicators);
// Published rate of the GPU's NVLink in one direction, GB/s; 0: none is active, or it is not known.
double NvlinkRate(const Rank& rank, const Device& device);

struct RankLink {
  double busbw_gb_per_s = 0;      // of all large operations that every rank enters
  bool waiting_included = false;  // over kernel time: a lower bound
  std::string name;               // "NVLink", "PCIe 5.0 x16", "TCP sockets"; empty: see reason
  std::optional<double> link_gb_per_s = std::nullopt;
  std::string reason = {};  // why link or rate are unknown, or how sure they are
  bool nvls = false;        // some by NVLink SHARP, whose busbw is no rate on the link

  std::optional<double> link_share() const {
    if (!link_gb_per_s) return std::nullopt;
    return busbw_gb_per_s / *link_gb_per_s;
  }
};

// Of the launches that start in the window. The link is the slowest that NCCL's log tells for their
// communicators; where it was not recorded, that which the links of the GPU and the number of hosts
// leave. Empty: there is no large operation of known size and communicator. O(launches + links).
std::optional<RankLink> FindRankLink(const Rank& rank, const Device& device,
                                     const NcclLinks& launches, Interval window,
                                     const std::optional<HostLink>& host);

}  // namespace traceinject
