// SPDX-License-Identifier: Apache-2.0
// What a recording proves to be amiss with its machines, beside the verdict.
#pragma once

#include "analyzer/model/run.h"
#include "schemas/report.pb.h"

namespace traceinject {

// Checks the facts of the processes, how NCCL connected them, and what `report` says of its
// devices. What several processes or GPUs have in common is one finding. O(facts log facts +
// links), and O(operations) for processes of several GPUs.
void AddHygiene(const Run& run, proto::Report& report);

}  // namespace traceinject
