// SPDX-License-Identifier: Apache-2.0
// What verdicts of the program as it is foretell of a fix.
#pragma once

#include <string>
#include <vector>

#include "analyzer/verdict/levers.h"
#include "schemas/report.pb.h"
#include "schemas/tries.pb.h"

namespace traceinject {

// Of several levers, "num_workers=4,pin_memory=1", that of the one that reaches furthest.
TryReach ReachOf(const std::string& label, const std::string& tried);

// Of all runs of the program as it is: the mean of what those foretell whose label `fix` is to be
// about (fix.label()), as what is measured is a mean, too. A saving with its interval where the
// lever takes the cause away, and for data loader workers also where they are too few for that; for
// other levers the most that they can save, unless they reach beyond the cause. Workers that start
// again as epochs begin save less than the wait by an amount that nothing tells. O(verdicts x
// levers).
void Foretell(const std::vector<const proto::Verdict*>& verdicts, proto::TriedFix& fix);

}  // namespace traceinject
