// SPDX-License-Identifier: Apache-2.0
// What copies make of the link between host and GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/gpu/host_link.h"
#include "analyzer/metrics/idle/copies.h"
#include "analyzer/model/intervals.h"

namespace traceinject {

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
