// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/ranks/causes/stragglers.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// What the late rank does that its peers do not: as evidence, in sentences, and in figures. `who`:
// its name.
void AddDifferences(const Straggler& straggler, const std::string& who, proto::RankFinding& to);

}  // namespace traceinject
