// SPDX-License-Identifier: Apache-2.0
// The report on a run as a page, for the commands that offer it.
#pragma once

#include <string>

#include "analyzer/commands/shared/run_options.h"

namespace traceinject {

// Reads the run and writes its page to options.output. `served` is where traceview --serve shows
// the run, or empty. Returns an ExitCode; what went wrong is told in the name of `program`, as that
// a page is not for a terminal.
int WriteReportPage(const char* program, const RunOptions& options, const std::string& served);

}  // namespace traceinject
