// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/places/code_grouping.h"
#include "analyzer/metrics/report/build_report.h"

namespace traceinject {

struct DeviceFigures;  // device_figures.h
struct RunAnalysis;

// The figures with DeviceReport.code of all devices, the longest idle time first.
Report BuildReportWithCode(const Run& run, const ReportOptions& options, CodeGrouping grouping);

// The same of an analysis with causes.
Report WriteReportWithCode(const RunAnalysis& analysis, CodeGrouping grouping);

// Of one device what ReportOptions asks for: its lines, likewise, and the flames of its process.
void WriteCodeOfDevice(const RunAnalysis& analysis, const DeviceFigures& found,
                       proto::DeviceReport& to);

}  // namespace traceinject
