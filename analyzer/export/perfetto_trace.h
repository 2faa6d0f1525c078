// SPDX-License-Identifier: Apache-2.0
// A run in Perfetto's own format, for ui.perfetto.dev and trace_processor: see
// schemas/perfetto.proto.
//
// Of each process its threads (NVTX ranges, waits for data, NCCL and library calls, CUDA calls),
// its GPUs with a track a stream and a track a sampled figure, the training steps, and arrows from
// launches to what they launched. Slices that would not nest stand on further tracks of the same
// name.
#pragma once

#include "analyzer/export/export_counts.h"
#include "analyzer/export/output_file.h"
#include "analyzer/model/run.h"

namespace traceinject {

// O(events) time; memory beside the run: two bits an operation and names. Failures to write show
// with OutputFile::Close().
ExportCounts WritePerfettoTrace(const Run& run, OutputFile& file);

}  // namespace traceinject
