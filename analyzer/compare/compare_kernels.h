// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/compare/kernel_times.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// Kernels of one name, grid and block are the same; where of one name exactly one is left on either
// side, it is the same kernel launched otherwise. A change is told if it is certain (the chance of
// a mistake adjusted for all kernels compared) and at least 1 % of what the kernels take; where
// there are too few steps for that, if it is at least 5 %. O(kernels log kernels).
proto::KernelChanges CompareKernels(const ComparedRun& before, const ComparedRun& after);

// Share of the kernel time of both runs that is in kernels whose name either has.
double SharedKernelTime(const ComparedRun& before, const ComparedRun& after);

}  // namespace traceinject
