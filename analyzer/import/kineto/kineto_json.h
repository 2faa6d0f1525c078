// SPDX-License-Identifier: Apache-2.0
// A trace of PyTorch's profiler (Kineto, Chrome JSON) as a recording of one process.
#pragma once

#include <string>

#include "analyzer/common/result.h"
#include "analyzer/import/source/recorded_file.h"

namespace traceinject {

// Whether the file is to be read as such a trace: by its first bytes, or, where they tell nothing,
// by its name (.json, .json.gz).
bool IsKinetoJson(const std::string& path);

// Reads a trace, plain or gzip, of any generation of category names. What the model takes:
//   - kernels, copies and memsets, joined to their runtime and driver calls;
//   - user annotations and ProfilerStep#N as ranges of the domain "annotation", the ranges of data
//   loaders as data waits too; Optimizer.step as step marks if there is no ProfilerStep;
//   - collectives, from the metadata of NCCL kernels, at the launch of the kernel;
//   - operators and Python functions as Rank::profiled, and the stacks that follow from them
//   (python_stacks.h). The recording does not begin with them.
// Times are exact: decimal microseconds to ns.
//
// The file is read as a stream: memory is that of the result and of the longest event. O(n log n).
// Events that cannot be right are left out and counted in `notes`. Errors, each a sentence: not
// readable, empty, damaged, not JSON, cut off, no GPU operation.
Result<RecordedFile> ReadKinetoJson(const std::string& path, ReadProgress& progress,
                                    Repairs repairs = Repairs::kDone);

}  // namespace traceinject
