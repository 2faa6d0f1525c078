// SPDX-License-Identifier: Apache-2.0
// The mean step that the verdict is about: the same figure and the same words wherever it is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schemas/report.pb.h"

namespace traceinject {

// Of the GPU that the verdict is about, else of the first; null: there is none.
const proto::DeviceSteps* JudgedSteps(const proto::Report& report);
const proto::DeviceReport* JudgedDevice(const proto::Report& report);

// "Mean step 72.92 ms over 24 of 30 steps: 12..35 (rank 0 GPU 0)".
std::string MeanStepTitle(const proto::Report& report, const proto::DeviceSteps& steps);

// A figure that a run should reach, held against its target.
struct TargetFigure {
  std::string name, value, target, outcome;
  bool reached = false;
};
// Those that are known.
std::vector<TargetFigure> TargetsOf(const proto::Report& report);

// Hardware FLOPs utilization: as measured on the judged GPU, else the least that shapes tell of
// all.
struct HfuFigure {
  std::string name, value;
  bool is_measured = false;
};
std::optional<HfuFigure> HfuOf(const proto::Report& report);

// Whether a part shows as more than "0.0 %" of the whole.
bool IsShown(std::int64_t part, std::int64_t whole);

}  // namespace traceinject
