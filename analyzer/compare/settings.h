// SPDX-License-Identifier: Apache-2.0
// What else differs between two runs, beside how fast they are: hardware, software, environment,
// data loaders, the command line; as far as it was recorded.
#pragma once

#include "analyzer/compare/compared_run.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// Fills Comparison.settings. Of several ranks those of the compared GPU's process count. What
// differs between any two runs (ports, ids of jobs, where the recording was written) is left out.
void CompareSettings(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to);

}  // namespace traceinject
