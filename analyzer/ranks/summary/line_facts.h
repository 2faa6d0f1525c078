// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// The largest of these times, by index into Rank::places, the longest first. What is at no line is
// left out.
std::vector<LineFacts> LinesOf(const Rank& rank, const std::map<std::uint32_t, double>& places,
                               std::size_t most);
// The same by their texts.
std::vector<LineFacts> LinesOf(const std::map<std::string, double>& texts, std::size_t most);

// Fills in where the host's time of a regular step went: host_lines and worker_lines.
// O(looks + stacks + steps).
void AddHostLines(const DeviceAnalysis& found, RankSummary& to);

}  // namespace traceinject
