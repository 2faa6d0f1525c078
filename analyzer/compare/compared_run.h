// SPDX-License-Identifier: Apache-2.0
// A run as one side of a comparison: its report, and the GPU and the steps that are compared.
//
// Compared are the steps that the verdict of each run judges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Fewer steps do not report how much neighbors resemble each other: intervals are too narrow then.
inline constexpr std::size_t kFewSteps = 10;

struct ComparedRun {
  const Run* run = nullptr;
  ReportOptions options;
  Report report;                       // with the verdict and all steps
  std::vector<const Device*> devices;  // as report.devices()
  std::optional<int> index;            // of the compared GPU in report.devices() and report.steps()
  std::vector<int> steps;  // rows of its steps that are compared; empty: none were found

  // Of the compared GPU; an empty message where there is none.
  const proto::DeviceReport& device() const;
  const proto::DeviceSteps& device_steps() const;
  // Its process and itself in the model; null where there is none.
  const Rank* rank() const;
  const Device* model() const;

  const proto::StepSplit& step(int row) const { return device_steps().steps(row); }
  // A figure of each compared step, in order.
  template <typename Figure>
  std::vector<double> Series(Figure figure) const {
    std::vector<double> values;
    values.reserve(steps.size());
    for (const int row : steps) values.push_back(static_cast<double>(figure(step(row))));
    return values;
  }
};

// The GPU of the verdict. `run` must outlive it. O(as BuildReportWithVerdict).
ComparedRun PrepareRun(const Run& run, const ReportOptions& options);

// For two runs that are to be compared: of both the GPU of one label, that which limits the slower
// run, where both have it.
void ChooseSameGpu(ComparedRun& before, ComparedRun& after);

// Idle time of one cause (IdlePart.cause).
std::int64_t IdleOf(const proto::StepSplit& step, std::string_view cause);

}  // namespace traceinject
