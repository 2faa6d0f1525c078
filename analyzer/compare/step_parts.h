// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/compare/compared_run.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// Fills Comparison.step_ns and Comparison.parts: how each part of the step changed. Rounded so that
// the parts add up to the step on either side, and their changes to its. Nothing without steps.
void CompareSteps(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to);

}  // namespace traceinject
