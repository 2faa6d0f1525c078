// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/view/rows/event_text.h"
#include "schemas/report.pb.h"

namespace traceinject {

// The training step in which a moment of a row's process lies, as that process's GPU saw it: its
// number, its length against the median, and what the GPU did in it. Empty if no steps are known
// or the moment lies in none of those listed. O(steps).
std::vector<Detail> StepDetails(const proto::Report& report, const Run& run, const RowModel& model,
                                const Row& row, TimeNs time_ns);

}  // namespace traceinject
