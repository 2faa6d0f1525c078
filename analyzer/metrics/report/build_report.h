// SPDX-License-Identifier: Apache-2.0
// All figures about a run as one message, which every output format renders.
#pragma once

#include "analyzer/metrics/report/report_options.h"
#include "analyzer/model/run.h"
#include "schemas/report.pb.h"

namespace traceinject {

using Report = proto::Report;
struct RunAnalysis;  // analyze_run.h

// Never fails: what cannot be known is absent, with the reason in Report.notes or beside the field.
// A run without GPU work in the window has no devices. O(events log events).
Report BuildReport(const Run& run, const ReportOptions& options);

// Its part of a message to which more is added: without what is withheld, but not yet printable.
// Of an analysis that was stopped, what there is.
Report WriteFigures(const RunAnalysis& analysis);

}  // namespace traceinject
