// SPDX-License-Identifier: Apache-2.0
// What a verdict says, in sentences: the same words wherever it is shown.
#pragma once

#include <string>

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

}  // namespace traceinject
