// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/report/layout/text_layout.h"
#include "schemas/tries.pb.h"

namespace traceinject {

// What `analyze try` found: the table of levers, what each did, and how to keep those that help.
// O(fixes).
void WriteTries(const proto::Tries& tries, ReportPage& page);

// "36.70 ms (34.85 to 38.37 ms)"; "up to 36.70 ms" of a lever that takes away a part; "-": nothing
// was foretold.
std::string ForetoldText(const proto::TriedFix& fix);

// "42.00 ms (39.80 to 44.20 ms)"; the outcome where nothing was measured.
std::string MeasuredText(const proto::TriedFix& fix);

// "pin_memory=1 + non_blocking=1": levers that are pulled together, as --fixes has them.
std::string FixName(const proto::TriedFix& fix);

// The measured fix that saves most for sure; null: none does. Of fixes that save about as much, the
// one with fewer levers: it is less to change.
const proto::TriedFix* BestFix(const proto::Tries& tries);

}  // namespace traceinject
