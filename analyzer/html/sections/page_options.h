// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

#include "analyzer/metrics/report/build_report.h"

namespace traceinject {

// With all that WriteHtml() draws. What the page shows of it is bounded there.
inline ReportOptions ForPage(ReportOptions options) {
  options.top_kernels = 250;
  options.longest_gaps = 50;
  options.step_rows = std::numeric_limits<std::size_t>::max();
  options.gap_causes = options.memory = options.device_samples = true;
  options.code = options.host_flames = true;
  return options;
}

}  // namespace traceinject
