// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "schemas/report.pb.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

// The stretch and the row that a line of evidence speaks of. Empty if it names none, or if the
// process, GPU or thread has no row here. O(rows log events).
std::optional<Measure> PlaceOnTimeline(const Run& run, const RowModel& model,
                                       const proto::Evidence& evidence);

}  // namespace traceinject
