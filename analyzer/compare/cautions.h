// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/compare/compared_run.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// Whether both are the same files, or the same recordings of the same processes.
bool AreTheSame(const ComparedRun& before, const ComparedRun& after);

// Fills Comparison.cautions: why the runs may not be comparable, or their figures not sure.
void AddCautions(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to);

}  // namespace traceinject
