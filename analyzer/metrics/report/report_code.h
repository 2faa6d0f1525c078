// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/places/code_grouping.h"
#include "analyzer/metrics/report/build_report.h"

namespace traceinject {

// The figures with DeviceReport.code of all devices, the longest idle time first.
Report BuildReportWithCode(const Run& run, const ReportOptions& options, CodeGrouping grouping);

}  // namespace traceinject
