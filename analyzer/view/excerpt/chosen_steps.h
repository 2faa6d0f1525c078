// SPDX-License-Identifier: Apache-2.0
// Which few steps of a run show what its verdict says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/intervals.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {

inline constexpr std::size_t kExcerptSteps = 3;

struct ChosenSteps {
  Interval time;
  std::string text;    // "steps 14 to 16"
  std::string reason;  // why these: "judged by the verdict, with evidence in them"
};

// The rank to show, an index into Run::ranks: where the verdict says that the cause is, else the
// one that it is about. O(ranks).
std::uint32_t GuiltyRank(const Run& run, const JudgedReport& found);

// kExcerptSteps in a row: the most judged ones, then those with the first of the places, then with
// most of them, then the most usual ones. All, where there are no more; of a window all of it.
// `places`: of lines of evidence, as they come. O(steps x places).
ChosenSteps ChooseSteps(const Steps& steps, const std::vector<Interval>& places);

}  // namespace traceinject
