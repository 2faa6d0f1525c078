// SPDX-License-Identifier: Apache-2.0
// Three to five lines of figures for a label.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/verdict/decide.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// A stretch of time to look at.
struct EvidencePlace {
  Interval time;
  std::uint32_t thread = kNone;  // index into Rank::threads; kNone: on the GPU
};

struct EvidenceLine {
  std::string text;
  std::optional<EvidencePlace> place;  // that shows best what the text says
};

// What the recording shows for the decision, the most telling line first. O(events).
std::vector<EvidenceLine> EvidenceFor(const DeviceAnalysis& judged, const Savings& savings,
                                      const Decision& decision);

}  // namespace traceinject
