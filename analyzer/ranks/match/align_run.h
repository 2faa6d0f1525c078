// SPDX-License-Identifier: Apache-2.0
// The recordings of several hosts on one clock.
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Hosts that are not known may be several.
bool IsOfSeveralHosts(const Run& run);

// Where ranks were recorded on several hosts and not merged yet: maps all their times to the clock
// of one of them, as their operations tell (align_clocks.h). Those whose clocks cannot be aligned
// keep their own. Returns what was done, by a merge too, in sentences; nothing for a run of one
// host. O(events).
std::vector<std::string> AlignRun(Run& run);

}  // namespace traceinject
