// SPDX-License-Identifier: Apache-2.0
// Reads the runs of a trend, those that are known already from what was kept of them.
#pragma once

#include <string>
#include <vector>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/trend/find_runs.h"
#include "schemas/trend.pb.h"

namespace traceinject {

struct TrendReading {
  ReportOptions report;
  std::string html;         // the page of the trend; empty: none
  bool no_reports = false;  // beside that page
  bool no_cache = false, no_progress = false;
};

struct TrendRuns {
  std::vector<proto::TrendRun> runs;
  std::vector<std::string> left_out;  // runs that could not be read or are not over, in sentences
};

// One run after the other. With a page, the report of each run that has none that is newer is
// written beside it.
TrendRuns ReadTrendRuns(const std::vector<FoundRun>& found, const TrendReading& options);

}  // namespace traceinject
