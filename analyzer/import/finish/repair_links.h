// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// A part of RepairOperations: removes links to calls that cannot have launched their operation, all
// of them where too many are wrong. O(n), and O(m log m) for the m operations of a stream that has
// wrong links.
void RepairLinks(Rank& rank);

}  // namespace traceinject
