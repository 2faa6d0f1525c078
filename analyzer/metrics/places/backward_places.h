// SPDX-License-Identifier: Apache-2.0
// Work of threads that run no Python, such as those of autograd: it is done for the line at which
// the main thread waits for them, as a rule that of loss.backward().
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/looks.h"
#include "analyzer/metrics/places/place_tally.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Time of operations that begin in these times and that threads launched of which no stack is
// known, divided like the looks at the main thread while these launched; they overlap. `main`:
// kNone, there is none. O(operations log operations + looks log operations).
TimeByPlace BackwardTimeByPlace(const Rank& rank, const Device& device,
                                const std::vector<LookRuns>& looks, std::uint32_t main,
                                const CodeSites& sites, const Intervals& times);

}  // namespace traceinject
