// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/compare/compared_run.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// What a mean step consists of, by the names of StepPart, in a fixed order: parts with time.
// Nothing without steps.
std::vector<std::pair<std::string, double>> MeanParts(const ComparedRun& side);

// Fills Comparison.step_ns and Comparison.parts: how each part of the step changed. Rounded so that
// the parts add up to the step on either side, and their changes to its. Nothing without steps.
void CompareSteps(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to);

}  // namespace traceinject
