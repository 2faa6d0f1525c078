// SPDX-License-Identifier: Apache-2.0
// The sampled stacks of Python in formats of flame graphs.
#pragma once

#include "analyzer/export/export_counts.h"
#include "analyzer/export/output_file.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Collapsed stacks, as flamegraph.pl and speedscope read them: a line for each stack of a thread,
// the outermost frame first, and how many samples found it. O(samples + stacks * depth).
ExportCounts WriteCollapsedStacks(const Run& run, OutputFile& file);

// speedscope's own format: a profile for each thread, its samples in order of time, with their
// distance as the weight.
ExportCounts WriteSpeedscope(const Run& run, OutputFile& file);

}  // namespace traceinject
