// SPDX-License-Identifier: Apache-2.0
// Three to five lines of figures for a label.
#pragma once

#include <string>
#include <vector>

#include "analyzer/verdict/decide.h"
#include "analyzer/verdict/savings.h"

namespace traceinject {

// What the recording shows for the decision, the most telling line first. O(events).
std::vector<std::string> EvidenceFor(const JudgedDevice& judged, const Savings& savings,
                                     const Decision& decision);

}  // namespace traceinject
