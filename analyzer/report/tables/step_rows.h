// SPDX-License-Identifier: Apache-2.0
// The steps of a report as rows, for the tables of which a row is a step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/report/tables/table.h"
#include "schemas/report.pb.h"

namespace traceinject {

struct StepRow {
  std::int64_t number = 0;  // as --steps counts
  const proto::DeviceSteps& device;
  const proto::StepSplit& step;
};

inline std::vector<StepRow> StepRows(const proto::Report& report) {
  std::vector<StepRow> rows;
  for (const proto::DeviceSteps& device : report.steps()) {
    for (int i = 0; i < device.steps_size(); ++i)
      rows.push_back({device.first() + i, device, device.steps(i)});
  }
  return rows;
}

// These rows as `analyze steps` shows them.
Table StepTableOf(const std::vector<StepRow>& rows);

// Idle time of a cause; not known where causes are withheld.
inline Cell IdleBy(const StepRow& row, std::string_view cause) {
  if (row.step.idle().empty() && row.step.idle_ns() > 0) return Cell();
  for (const proto::IdlePart& part : row.step.idle()) {
    if (part.cause() == cause) return Cell(part.ns());
  }
  return Cell(std::int64_t{0});
}

}  // namespace traceinject
