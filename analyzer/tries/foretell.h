// SPDX-License-Identifier: Apache-2.0
// What verdicts of the program as it is foretell of a fix.
#pragma once

#include <string>
#include <vector>

#include "schemas/report.pb.h"
#include "schemas/tries.pb.h"

namespace traceinject {

// Whether one of the levers, "num_workers=4,pin_memory=1", takes away all that the label is about.
bool TakesAway(const std::string& label, const std::string& tried);

// Of all runs of the program as it is: the mean of what those foretell whose label `fix` is to be
// about (fix.label()), as what is measured is a mean, too. A saving with its interval where the
// lever takes the cause away, and for data loader workers also where they are too few for that; for
// other levers the most that they can save. O(verdicts x levers).
void Foretell(const std::vector<const proto::Verdict*>& verdicts, proto::TriedFix& fix);

}  // namespace traceinject
