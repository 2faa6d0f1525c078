// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyzer/view/rows/rows.h"
#include "schemas/report.pb.h"

namespace traceinject {

// The row that a line of evidence speaks of: of a thread the one with the very event, else the one
// of its CUDA calls. kNone if it names no time, or if its process, GPU or thread has no row here.
// O(rows log events).
std::uint32_t RowOfEvidence(const Run& run, const RowModel& model, const proto::Evidence& evidence);

}  // namespace traceinject
