// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "analyzer/model/run.h"

namespace traceinject {

// What all readers end with, once the columns hold what a file tells: sorts them, joins operations
// to calls, mends what contradicts itself, and finds the end of a recording that does not report
// it. `from`: the moment from which on all that a recording holds was read, where only its end was.
// O(n log n).
void FinishRank(Rank& rank, std::optional<TimeNs> from = std::nullopt);

}  // namespace traceinject
