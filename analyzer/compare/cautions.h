// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyzer/compare/compared_run.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// Whether both are the same files, or the same recordings of the same processes.
bool AreTheSame(const ComparedRun& before, const ComparedRun& after);

// Why the figures of a run may not be sure.
std::vector<std::string> CautionsOn(const ComparedRun& side);

// Fills Comparison.cautions: why the runs may not be comparable, or their figures not sure.
void AddCautions(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to);

}  // namespace traceinject
