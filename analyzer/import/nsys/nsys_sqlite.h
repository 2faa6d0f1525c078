// SPDX-License-Identifier: Apache-2.0
// An export of Nsight Systems (nsys export --type sqlite) as a recording.
#pragma once

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/import/source/recorded_file.h"

namespace traceinject {

// Reads an open export (see IsNsysExport). What the model takes, as far as the file has it:
//   - kernels, copies and memsets of all processes, joined to their runtime and driver calls; where
//   CUDA graphs were traced as a whole, each launch as one operation;
//   - event records and waits, at the calls that made them;
//   - NVTX ranges and marks with their domains; allocations of GPU memory;
//   - devices, names of threads, streams and processes, when the session began and ended.
// Call stacks, samples of the processor, metrics of the GPU and all other tables are passed over.
// Every process with GPU work becomes a Rank.
//
// Rows that cannot be right are left out and counted in `notes`. Errors, each a sentence: a column
// that rows need is missing, damaged pages, no GPU operation. O(n log n) time, O(n) memory.
Result<RecordedFile> ReadNsysSqlite(const Database& database, ReadProgress& progress,
                                    Repairs repairs = Repairs::kDone);

}  // namespace traceinject
