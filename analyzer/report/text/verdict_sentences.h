// SPDX-License-Identifier: Apache-2.0
// What a verdict says, in sentences: the same words wherever it is shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schemas/report.pb.h"

namespace traceinject {

// "Data loading (dataloader) at train.py:41 in load_batch".
std::string VerdictTitle(const proto::Verdict& verdict);
// What the interval of the saving spans; empty: there is none.
std::string IntervalSentence(const proto::Verdict& verdict);
// What lies between regular steps; empty: hardly anything, or it is the verdict.
std::string BetweenSentence(const proto::Verdict& verdict);
// What recording adds to a step; empty: too little to tell.
std::string RecordingSentence(const proto::Verdict& verdict);
// With the runner-up; empty: there is no verdict.
std::string ConfidenceSentence(const proto::Verdict& verdict);
// How the replay was checked; empty: it was not.
std::string ReplayCheckSentence(const proto::Verdict& verdict);
// "1.2s..1.25s", to the nanosecond, as traceview takes it.
std::string ViewRange(std::int64_t start_ns, std::int64_t end_ns);
// What shows the run there: "traceview run.db --view 1.2s..1.25s", to the nanosecond.
std::string ViewCommand(std::string_view run, std::int64_t start_ns, std::int64_t end_ns);

}  // namespace traceinject
