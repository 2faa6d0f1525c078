// SPDX-License-Identifier: Apache-2.0
// The way between the memory of the host and a GPU, and what copies make of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/gpu/telemetry.h"
#include "analyzer/metrics/idle/copies.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct HostLink {
  std::string name;     // "PCIe 5.0 x16", "NVLink C2C"
  double gb_per_s = 0;  // published, in one direction
};

// Of the generation and width that the link had under load: cards lower both while they idle.
// Empty: neither was sampled, and the GPU is none that has another link.
std::optional<HostLink> HostLinkOf(const Device& device, const std::optional<Telemetry>& telemetry);

// What a setting may change about copies or communication.
struct LinkFinding {
  std::string name;  // as in report.proto
  std::string text;
  std::string setting, change, source;  // as in a lever
};

// Copies of a MiB and more on average that take a fiftieth of the time in which the GPU was busy:
// those from and to pageable memory, and pinned ones below half of the link's rate. O(groups).
std::vector<LinkFinding> FindInCopies(const std::vector<CopyStats>& copies,
                                      const std::optional<HostLink>& link, TimeNs busy_ns);

// "6.0 GB/s, 9.5 % of PCIe 5.0 x16 (63 GB/s)"; of an unknown link that it is unknown.
std::string RateAgainst(double gb_per_s, const std::optional<HostLink>& link);

}  // namespace traceinject
