// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/compare/compared_run.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// Fills Comparison.collectives: by function, communicator size and message size, whatever carried
// them out. O(rows log rows).
void CompareCollectives(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to);

}  // namespace traceinject
