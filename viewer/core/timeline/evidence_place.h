// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "schemas/report.pb.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

// The stretch and the row that a line of evidence speaks of. Empty if it names none, or if the
// process, GPU or thread has no row here. O(rows log events).
std::optional<Measure> PlaceOnTimeline(const Run& run, const RowModel& model,
                                       const proto::Evidence& evidence);

// The ranks that a verdict speaks of, as indices into Run::ranks: those of its evidence, and the
// one where the cause is. The first one if it speaks of none. O(ranks).
std::set<std::uint32_t> RanksIn(const Run& run, const proto::Verdict& verdict);

}  // namespace traceinject
