// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Where a file holds several processes, its dictionaries serve all of them. Leaves a rank the
// shapes, graph nodes and names of calls that its own events refer to, in their order: with all,
// the ranks of a large job would take memory by the square of their number. Texts stay, of which
// there is one copy each however many processes use them. O(events + entries).
void LeaveOwnEntries(Rank& rank);

}  // namespace traceinject
