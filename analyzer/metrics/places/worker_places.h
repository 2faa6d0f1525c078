// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/looks.h"
#include "analyzer/metrics/places/place_tally.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// What the workers of data loaders did in these times, by start, in which the program waited for
// them: divided like the looks at those that were at work. One that waits for its next batch is
// not. O(looks of workers + workers x times).
TimeByPlace WorkerTimeByPlace(const Rank& rank, const std::vector<LookRuns>& looks,
                              const CodeSites& sites, const Intervals& times);

}  // namespace traceinject
