// SPDX-License-Identifier: Apache-2.0
// The figures of a run that conditions can be about and that a comparison lists: one table, from
// which conditions are parsed, `analyze gate --list` is written and the comparison is filled.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/compare/compared_run.h"
#include "analyzer/compare/statistics/mean_difference.h"
#include "analyzer/report/layout/shared_figures.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

enum class Better : std::uint8_t { kLower, kHigher };

// What says whether a change may be noise.
enum class FigureNoise : std::uint8_t {
  kSteps,     // how it varies from step to step: of_step
  kStepTime,  // it is so much work over the time of a step: how that varies
  kExact,     // nothing: the same program has the same
  kUnknown,   // it varies, and one run does not report how
};

struct FigureValue {
  std::optional<double> value;
  std::string reason;  // why there is none, and how to get it
};

struct Figure {
  std::string_view name;
  FigureUnit unit;
  Better better;
  std::string_view help;
  FigureValue (*read)(const ComparedRun& run);
  FigureNoise noise = FigureNoise::kUnknown;
  double (*of_step)(const proto::StepSplit& step) = nullptr;
};

// In the order in which they are listed.
std::span<const Figure> Figures();
// Null: there is none of that name.
const Figure* FindFigure(std::string_view name);

// How the figure differs: means over the compared steps where it has steps, else without interval.
MeanDifference DifferenceOf(const Figure& figure, const ComparedRun& before,
                            const ComparedRun& after);

// Fills Comparison.figures.
void CompareFigures(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to);

}  // namespace traceinject
