// SPDX-License-Identifier: Apache-2.0
// What one run of `analyze try` tells: its steps, memory, losses, and what the levers did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/model/run.h"
#include "schemas/report.pb.h"

namespace traceinject {

struct TriedRun {
  proto::Report report;          // of these steps, with its verdict
  std::vector<double> steps_ns;  // after the warm-up, in order, without what recording adds
  std::optional<std::int64_t> peak_bytes;  // as TriedRuns.peak_bytes
  std::vector<double> losses;              // of the first process that noted some
  std::string diff;                        // likewise, as TriedFix.diff

  double mean_ns() const;  // of steps_ns
};

// With fewer steps after the warm-up nothing is measured.
inline constexpr std::int64_t kLeastTriedSteps = 3;

// Steps of the GPU that the verdict is about; the first `warm_up` of them, and those that the
// report takes for warm-up, do not count. Error: there are not enough, in a sentence.
Result<TriedRun> MeasureTry(const Run& run, std::size_t warm_up);

// How often the levers of `tried` took effect, by the report, the least of them, and where each
// did; 0 where one did not, and why.
struct TriedEffect {
  std::int64_t times = 0;
  std::string text;
};
TriedEffect EffectSeen(const proto::Report& report, const std::string& tried);

}  // namespace traceinject
