// SPDX-License-Identifier: Apache-2.0
// A trace of rocmProfileData (.rpd) as a recording. Its schema, tableSchema.cmd in
// github.com/ROCm/rocmProfileData, is filled by tracers for ROCm and for CUDA.
#pragma once

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/import/source/recorded_file.h"

namespace traceinject {

// Whether a database is such a trace: by its tables, whatever its name is.
bool IsRpd(const Database& database);

// Reads an open trace, of schema version 2 or 3. What the model takes:
//   - operations on GPUs as kernels, copies and memsets, joined to the calls that made them;
//   - calls of HIP and CUDA; markers (roctx, NVTX) and ranges of the tracer's Python interface.
// What it does not tell is unknown: which GPUs and versions there were, ranks, what NCCL or RCCL
// did beyond the names of kernels, bytes of memsets, when tracing began and ended. Stack frames and
// clocks (rocpd_stackframe, rocpd_monitor) are passed over. Every process with GPU work becomes a
// Rank.
//
// Rows that cannot be right are left out and counted in `notes`. Errors, each a sentence: a column
// that rows need is missing, damaged pages, no GPU operation. O(n log n) time, O(n) memory.
Result<RecordedFile> ReadRpd(const Database& database, ReadProgress& progress,
                             Repairs repairs = Repairs::kDone);

}  // namespace traceinject
