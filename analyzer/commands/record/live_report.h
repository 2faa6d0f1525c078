// SPDX-License-Identifier: Apache-2.0
// The last seconds of a recording that its program may still be writing, as a report.
#pragma once

#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct LiveOptions {
  std::vector<std::string> paths;   // as LoadRun takes them; the files may still be in their spool
  TimeNs last_ns = 30'000'000'000;  // of what was recorded so far
  ReportOptions report;             // limits count from the first GPU operation of that time
};

// Reads and analyses anew: time and memory are those of the last seconds, however long the
// recording is. The writer is not kept from anything: reading takes one short transaction a file,
// which ends before the analysis begins. A report without devices: no GPU work in that time. Error:
// there is no recording (yet), or none that can be read.
Result<Report> ReadLiveReport(const LiveOptions& options);

// The part of it that reads: what was recorded in that time, aligned. `paths`: in the place of
// those of the options, and where the files lie now.
Result<Run> LoadLiveRun(const std::vector<std::string>& paths, const LiveOptions& options);

}  // namespace traceinject
