// SPDX-License-Identifier: Apache-2.0
// The table of what analyze reads.
#include "tests/fuzz/message_targets.h"
#include "tests/fuzz/recording_targets.h"
#include "tests/fuzz/request_targets.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/timeline_target.h"

namespace traceinject {
namespace {

constexpr FuzzTarget kTargets[] = {
    {"recording", "a run.db with changed rows, or of two ranks", FuzzRecording},
    {"nsys", "an export of Nsight Systems with changed rows", FuzzNsys},
    {"rpd", "a trace of rocmProfileData with changed rows", FuzzRpd},
    {"kineto", "a trace of PyTorch's profiler with changed values", FuzzKineto},
    {"file", "any file that may be a recording or a trace", FuzzFile, 1 << 16},
    {"summary", "a summary of a rank with changed bytes", FuzzSummary},
    {"timeline", "a timeline of a job's operations with changed values", FuzzTimeline},
    {"request", "what a client asks of analyze serve", FuzzRequest, 512},
    {"condition", "a line of a budget", FuzzCondition, 256},
};

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return kTargets; }

}  // namespace traceinject
