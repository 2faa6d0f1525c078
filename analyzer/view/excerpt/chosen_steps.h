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
#include "analyzer/view/rows/rows.h"

namespace traceinject {

inline constexpr std::size_t kExcerptSteps = 3;

struct ChosenSteps {
  Interval time;
  std::string text;     // "steps 14 to 16"
  std::string reason;   // why these: "judged by the verdict, with evidence in them"
  bool judged = false;  // all of them
};

// The rank to show, an index into Run::ranks: where the verdict says that the cause is, else the
// one that it is about. O(ranks).
std::uint32_t GuiltyRank(const Run& run, const JudgedReport& found);

// kExcerptSteps in a row: the most judged ones, then those with the first of the places, then with
// most of them, then the most usual ones. All, where there are no more; of a window all of it.
// `places`: of lines of evidence, as they come. O(steps x places).
ChosenSteps ChooseSteps(const Steps& steps, const std::vector<Interval>& places);

// The same of a run whose verdict is about a device, by the evidence on the rows of the guilty
// rank, which the model must have; it may have more. O((rows log events + steps) x evidence).
ChosenSteps ChooseSteps(const Run& run, const RowModel& model, const JudgedReport& found);

}  // namespace traceinject
