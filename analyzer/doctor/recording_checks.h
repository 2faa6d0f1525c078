// SPDX-License-Identifier: Apache-2.0
// Whether a run on this machine could be recorded.
#pragma once

#include <string>
#include <vector>

#include "analyzer/doctor/checklist.h"
#include "analyzer/doctor/present_machine.h"

namespace traceinject {

// NVML and driver; `machine` tells whether there is a GPU at all.
Checklist CheckDriver(const PresentMachine& machine);

// Where the library would find CUPTI: TRACEINJECT_CUPTI, with the CUDA wheels of the Python in
// PATH, with the loader, in the toolkit's folder.
CheckLine CheckCupti(const PresentMachine& machine);

// Whether hardware counters (TRACEINJECT_COUNTERS) could be sampled, as far as that can be told
// without taking them: of the reasons against it (machine/counter_reasons.h) what /proc, below
// `root`, and NVML tell.
Checklist CheckCounters(const PresentMachine& machine, const std::string& root);

// Whether another tool holds the places through which CUDA, NVTX and NCCL call the library at
// `own_path`, and whether it is switched off.
Checklist CheckEntrances(const std::vector<SystemFact>& facts, const std::string& own_path);

}  // namespace traceinject
