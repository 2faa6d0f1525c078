// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/run.h"
#include "schemas/trend.pb.h"

namespace traceinject {

// What a run was like, but for its name and page. O(as BuildReportWithVerdict).
proto::TrendRun DescribeRun(const Run& run, const ReportOptions& options);

}  // namespace traceinject
