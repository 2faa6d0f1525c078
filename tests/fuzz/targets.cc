// SPDX-License-Identifier: Apache-2.0
// The table of all targets.
#include <algorithm>
#include <iterator>

#include "tests/fuzz/recording_targets.h"
#include "tests/fuzz/target.h"

namespace traceinject {
namespace {

constexpr FuzzTarget kTargets[] = {
    {"recording", "a run.db with changed rows, or of two ranks", FuzzRecording},
    {"nsys", "an export of Nsight Systems with changed rows", FuzzNsys},
    {"rpd", "a trace of rocmProfileData with changed rows", FuzzRpd},
    {"kineto", "a trace of PyTorch's profiler with changed values", FuzzKineto},
    {"file", "any file that may be a recording or a trace", FuzzFile, 1 << 16},
};

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return kTargets; }

const FuzzTarget* FindFuzzTarget(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                   [&](const FuzzTarget& target) { return target.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

}  // namespace traceinject
