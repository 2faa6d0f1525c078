// SPDX-License-Identifier: Apache-2.0
// The way between the memory of the host and a GPU. Findings on copies and what-ifs of the verdict
// take its rate from here.
#pragma once

#include <optional>
#include <string>

#include "analyzer/metrics/gpu/telemetry.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct HostLink {
  std::string name;     // "PCIe 5.0 x16", "NVLink C2C"
  double gb_per_s = 0;  // published, in one direction
};

// Copies from and to pinned memory usually reach this share of it.
inline constexpr double kPinnedShare = 0.8;

// Of the generation and width that the link had under load: cards lower both while they idle.
// Empty: neither was sampled, and the GPU is none that has another link.
std::optional<HostLink> HostLinkOf(const Device& device, const std::optional<Telemetry>& telemetry);

// For what a copy would take: the link that is known, else the one that GPUs of this compute
// capability have in x16. Empty: that is not known either.
std::optional<HostLink> LinkToAssume(const Device& device, const std::optional<HostLink>& known);

}  // namespace traceinject
