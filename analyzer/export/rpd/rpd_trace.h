// SPDX-License-Identifier: Apache-2.0
// A run as a trace of rocmProfileData (schemas/rpd.sql), which its tools and analyze itself read.
#pragma once

#include <string>

#include "analyzer/common/result.h"
#include "analyzer/export/export_counts.h"
#include "analyzer/model/run.h"

namespace traceinject {

// All ranks, into a new file, which takes the place of what has that name. Names are those that
// tracers for ROCm write: operations are KernelExecution, CopyHostToDevice, FillBuffer, ..., queues
// are CUDA's streams. Ranges and marks of the program, waits for data, optimizer steps and what
// else kept the host busy are markers; NVTX domains are categories. Times are those of the clock
// (ns since the epoch). The format has no place for library calls, NCCL operations and samples but
// clocks, power and temperature; of what a CUDA graph ran it has names and times alone. O(events).
Result<ExportCounts> WriteRpdTrace(const Run& run, const std::string& path);

}  // namespace traceinject
