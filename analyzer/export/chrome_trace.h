// SPDX-License-Identifier: Apache-2.0
// A process in Chrome's JSON format, as torch.profiler writes it (Kineto): chrome://tracing,
// Perfetto, HTA, TraceLens and analyze itself read it.
#pragma once

#include <cstddef>

#include "analyzer/export/export_counts.h"
#include "analyzer/export/output_file.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Of run.ranks[rank]: such a trace is of one process. Times are exact: microseconds with three
// decimals. O(events) time; memory beside the run: two bits an operation and names. Failures to
// write show with OutputFile::Close().
//
// Steps are ProfilerStep#N on the training thread, from one moment on the host to the next; read
// back, they are the same on the GPU. Where they were found by ranges of the program, these are
// there instead.
ExportCounts WriteChromeTrace(const Run& run, std::size_t rank, OutputFile& file);

}  // namespace traceinject
