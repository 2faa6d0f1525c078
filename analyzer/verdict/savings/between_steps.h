// SPDX-License-Identifier: Apache-2.0
// A verdict on what lies between regular training steps: evaluation, checkpoints, ends of epochs.
// It stands beside the verdict on the steps, and for it where that finds nothing.
#pragma once

#include <optional>
#include <string>

#include "analyzer/metrics/idle/run_time.h"
#include "analyzer/metrics/report/device_figures.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// Of the training time, what must lie between regular steps to be worth a verdict.
inline constexpr double kBetweenShare = 0.1;

inline constexpr std::string_view kEvaluationLabel = "evaluation", kEpochEndLabel = "epoch_end";

// Empty: no more than that lies between them.
std::optional<BetweenSteps> JudgeBetween(const DeviceFigures& judged);

}  // namespace traceinject
